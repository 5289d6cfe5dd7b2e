// SPDX-License-Identifier: Apache-2.0
#include "kernels/families/sorting.hpp"
#include "kernels/program/activity_library.hpp"
#include "kernels/program/collectives.hpp"
#include "kernels/program/dynamic_library.hpp"
#include "kernels/program/factorizations.hpp"
#include "kernels/program/libraries.hpp"
#include "kernels/program/machine.hpp"
#include "kernels/program/matrix_products.hpp"
#include "kernels/program/power_library.hpp"

namespace payoff::kernels {
namespace {

std::string dotted(int version, int major, int minor) {
  return std::to_string(version / major) + "." + std::to_string(version % major / minor) + "." +
         std::to_string(version % minor);
}

std::string solver_version() {
  const DynamicLibrary library({"libcusolver.so.12", "libcusolver.so.11"});
  auto* get = library.function<int(int*)>("cusolverGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? dotted(version, 1000, 100) : "";
}

std::string collectives_version() {
  const DynamicLibrary library({"libnccl.so.2"});
  auto* get = library.function<int(int*)>("ncclGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? dotted(version, 10000, 100) : "";
}

}  // namespace

std::vector<Library> libraries() {
  std::vector<Library> found;
  for (const Library& library :
       {Library{"cublas", product_library_version()}, Library{"cupti", activity_library_version()},
        Library{"cusolver", solver_version()}, Library{"nccl", collectives_version()},
        Library{"nvml", power_library_version()}}) {
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
