// SPDX-License-Identifier: Apache-2.0
// Matrix products where no library is: sums in the order of k on the host, for checks of what is
// chained with them. Their times mean nothing.
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "kernels/codec/minifloat.hpp"
#include "kernels/emulation/grid.hpp"
#include "kernels/program/matrix_products.hpp"

namespace payoff::kernels {
namespace {

template <typename T>
T number_at(const void* matrix, std::size_t index) {
  T number{};
  std::memcpy(&number, static_cast<const std::uint8_t*>(matrix) + index * sizeof(T), sizeof(T));
  return number;
}

float value_at(ProductType type, const void* matrix, std::size_t index) {
  if (type == ProductType::bf16) {
    return to_float(number_at<Bf16>(matrix, index));
  }
  return type == ProductType::fp16 ? to_float(number_at<Half>(matrix, index))
                                   : number_at<float>(matrix, index);
}

template <typename T>
void put(void* matrix, std::size_t index, T number) {
  std::memcpy(static_cast<std::uint8_t*>(matrix) + index * sizeof(T), &number, sizeof(T));
}

void put_value(ProductType type, void* matrix, std::size_t index, float value) {
  if (type == ProductType::bf16) {
    put(matrix, index, to_bf16(value));
  } else if (type == ProductType::fp16) {
    put(matrix, index, to_half(value));
  } else {
    put(matrix, index, value);
  }
}

}  // namespace

bool products_are_available() { return true; }

void multiply(Stream /*stream*/, ProductType type, const ProductSize& size, const void* a,
              const void* b, void* c) {
  if (type == ProductType::fp8) {
    throw std::logic_error("no library multiplies fp8 on the emulated grid");
  }
  emulation::count_launch();
  const auto [m, n, k] = std::tuple{size.m, size.n, size.k};
  for (std::size_t entry = 0; entry < size.batch * m * n; ++entry) {
    const std::size_t matrix = entry / (m * n);
    const std::size_t row = entry % m;
    const std::size_t column = entry / m % n;
    float sum = 0.0F;
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t left = size.left_transposed ? row * k + i : i * m + row;
      const std::size_t right = size.right_transposed ? i * n + column : column * k + i;
      sum += value_at(type, a, matrix * m * k + left) * value_at(type, b, matrix * k * n + right);
    }
    // What beta takes is read only then: at first it is poison.
    const float before = size.beta != 0.0F ? size.beta * value_at(type, c, entry) : 0.0F;
    put_value(type, c, entry, size.alpha * sum + before);
  }
}

}  // namespace payoff::kernels
