// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/counter_random.hpp"
#include "kernels/codec/low_rank.hpp"

// Test data with the shape of gradients, the same bits on host and device: normal values are sums
// of eight uniform ones (Irwin-Hall: symmetric, |z| < 4.9), and the others are built from those by
// operations that IEEE 754 rounds exactly. Laplace is Z0 sqrt(Z1^2 + Z2^2), Student's t with three
// degrees of freedom Z0 / sqrt((Z1^2 + Z2^2 + Z3^2) / 3): the tail closest to measured gradients.
// Kernels are never measured on zeros: memory and arithmetic units draw less power on them.

namespace payoff::kernels {

enum class InputKind { gaussian, laplace, student_t3, constant, denormal };

[[nodiscard]] PAYOFF_HD inline float normal_value(RandomKey key, std::uint64_t position) {
  const RandomWords words = random_words(key, position);
  std::uint32_t sum = 0;
  for (std::size_t half = 0; half < halves_per_call; ++half) {
    sum += half_of(words, half);
  }
  constexpr float mean = 262140.0F;     // 8 * 65535 / 2
  constexpr float spread = 53509.987F;  // 65536 sqrt(8 / 12)
  return (static_cast<float>(sum) - mean) / spread;
}

[[nodiscard]] PAYOFF_HD inline float input_value(InputKind kind, RandomKey key,
                                                 std::uint64_t index) {
  constexpr float typical = 1e-3F;  // gradients are small numbers
  if (kind == InputKind::constant) {
    return typical;
  }
  const float z0 = normal_value(key, 4 * index);
  if (kind == InputKind::gaussian) {
    return typical * z0;
  }
  if (kind == InputKind::denormal) {
    return z0 * 4e-40F;
  }
  const float z1 = normal_value(key, 4 * index + 1);
  const float z2 = normal_value(key, 4 * index + 2);
  if (kind == InputKind::laplace) {
    return typical * (z0 * root(z1 * z1 + z2 * z2));
  }
  const float z3 = normal_value(key, 4 * index + 3);
  const float spread = root((z1 * z1 + z2 * z2 + z3 * z3) / 3.0F);
  return typical * (z0 / larger(spread, 1e-3F));
}

}  // namespace payoff::kernels
