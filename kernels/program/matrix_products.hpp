// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/program/device_memory.hpp"

// Matrix products by cuBLAS, which is opened when the first one is asked for: the program is not
// linked with it and runs without it.

namespace payoff::kernels {

enum class ProductType { fp32, tf32, bf16, fp16, fp8 };

[[nodiscard]] std::string_view name(ProductType type);
[[nodiscard]] std::size_t element_bytes(ProductType type);
// Of the product: fp8's is in bf16.
[[nodiscard]] std::size_t result_bytes(ProductType type);

// C = alpha A B + beta C, m x k by k x n. A factor that is transposed lies as k x m or n x k.
struct ProductSize {
  std::size_t m{};
  std::size_t n{};
  std::size_t k{};
  std::size_t batch{1};
  bool left_transposed{};
  bool right_transposed{};
  float alpha{1.0F};
  float beta{};
};

[[nodiscard]] bool products_are_available();
// By cuBLASLt; no batches.
[[nodiscard]] bool fp8_products_are_available();

// Column-major, every matrix of a batch behind the one before; the sums are in fp32. Of fp8 A and
// B as they are, alpha one, beta zero.
void multiply(Stream stream, ProductType type, const ProductSize& size, const void* a,
              const void* b, void* c);
void multiply_fp8(Stream stream, const ProductSize& size, const void* a, const void* b, void* c);

}  // namespace payoff::kernels
