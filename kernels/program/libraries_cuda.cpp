// SPDX-License-Identifier: Apache-2.0
#include "kernels/families/sorting.hpp"
#include "kernels/program/activity_library.hpp"
#include "kernels/program/collectives.hpp"
#include "kernels/program/factorizations.hpp"
#include "kernels/program/libraries.hpp"
#include "kernels/program/machine.hpp"
#include "kernels/program/matrix_products.hpp"
#include "kernels/program/power_library.hpp"

namespace payoff::kernels {
std::string dotted(int version, int major, int minor) {
  return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
         std::to_string(version % minor);
}

std::vector<Library> libraries() {
  std::vector<Library> found;
  for (const Library& library :
       {Library{"cublas", product_library_version()}, Library{"cupti", activity_library_version()},
        Library{"cusolver", factorization_library_version()},
        Library{"nccl", collective_library_version()}, Library{"nvml", power_library_version()}}) {
    if (!library.version.empty()) {
      found.push_back(library);
    }
  }
  return found;
}

bool has_library(const std::string& name) {
  return name == "cub" || (name == "cub 3.2" && library_selection_is_available()) ||
         (name == "a second GPU" && devices() > 1) ||
         (name == "nccl with two GPUs" && collectives_are_available()) ||
         (name == "cublasLt" && fp8_products_are_available()) ||
         (name == "cusolver" && factorizations_are_available()) ||
         (name == "cublas" && products_are_available());
}

}  // namespace payoff::kernels
