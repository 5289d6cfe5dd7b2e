// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// Natural compression, Horvath et al., arXiv 1905.10988: each value becomes one of the two powers
// of two around it, up with the probability that makes the mean right; the second moment grows by
// at most 9/8 (theorem 1). A byte holds the sign and 7 bits of exponent: 2^-110 to 2^16. What is
// smaller becomes zero, what is larger 2^16; gradients lie in between.

namespace payoff::kernels {

inline constexpr int natural_least_exponent = -110;
inline constexpr std::uint32_t natural_top = 127;  // 2^16

// `half` are 16 random bits: they are added below the exponent, and the carry rounds up.
[[nodiscard]] PAYOFF_HD inline std::uint8_t encode_natural(float value, std::uint32_t half) {
  constexpr auto smallest = static_cast<std::uint32_t>(natural_least_exponent + 127);
  const std::uint32_t exponent = (magnitude_key(value) + (half << 7U)) >> 23U;
  if (magnitude_key(value) >> 23U < smallest) {
    return 0;
  }
  const std::uint32_t code = exponent - smallest + 1U;
  const std::uint32_t sign = (bits_of(value) >> 24U) & 0x80U;
  return static_cast<std::uint8_t>(sign | (code < natural_top ? code : natural_top));
}

[[nodiscard]] PAYOFF_HD inline float decode_natural(std::uint8_t byte) {
  const int code = byte & 0x7f;
  if (code == 0) {
    return 0.0F;
  }
  const float value = power_of_two(code - 1 + natural_least_exponent);
  return (byte & 0x80U) != 0U ? -value : value;
}

}  // namespace payoff::kernels
