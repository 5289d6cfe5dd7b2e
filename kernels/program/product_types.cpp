// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {

std::string_view name(ProductType type) {
  switch (type) {
    case ProductType::fp32:
      return "fp32";
    case ProductType::tf32:
      return "tf32";
    case ProductType::bf16:
      return "bf16";
    case ProductType::fp16:
      return "fp16";
    default:
      return "fp8";
  }
}

std::size_t element_bytes(ProductType type) {
  if (type == ProductType::fp8) {
    return 1;
  }
  return type == ProductType::fp32 || type == ProductType::tf32 ? 4 : 2;
}

std::size_t result_bytes(ProductType type) {
  return type == ProductType::fp8 ? element_bytes(ProductType::bf16) : element_bytes(type);
}

}  // namespace payoff::kernels
