// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// What the scalar codecs share: they are compiled by nvcc for the GPU and by the host's compiler
// for the reference, and both must give the same bytes. So: no contraction into fused multiply-adds
// (-fmad=false, -ffp-contract=off), division and square root rounded to nearest, no flushed
// denormals, and bit patterns where an operation's NaN or sign rules could differ.

#if defined(__CUDACC__)
#define PAYOFF_HD __host__ __device__
#else
#define PAYOFF_HD
#endif

namespace payoff::kernels {

inline constexpr std::uint32_t sign_bit = 0x80000000U;
inline constexpr std::uint32_t magnitude_bits = 0x7fffffffU;
inline constexpr std::uint32_t infinity_bits = 0x7f800000U;
inline constexpr float smallest_normal = 1.17549435e-38F;  // 2^-126

// memcpy and not std::bit_cast: the device compiler takes it without relaxed constexpr rules.
[[nodiscard]] PAYOFF_HD inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

[[nodiscard]] PAYOFF_HD inline float float_of(std::uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

[[nodiscard]] PAYOFF_HD inline float magnitude(float value) {
  return float_of(bits_of(value) & magnitude_bits);
}

// The order of magnitudes is the order of these keys, so maxima need no rule for ties.
[[nodiscard]] PAYOFF_HD inline std::uint32_t magnitude_key(float value) {
  return bits_of(value) & magnitude_bits;
}

[[nodiscard]] PAYOFF_HD inline float larger(float a, float b) { return a < b ? b : a; }
[[nodiscard]] PAYOFF_HD inline float smaller(float a, float b) { return b < a ? b : a; }

[[nodiscard]] PAYOFF_HD inline float clamped(float value, float low, float high) {
  return smaller(larger(value, low), high);
}

// 2^exponent for exponents from -127 (a denormal number) to 127, exactly.
[[nodiscard]] PAYOFF_HD inline float power_of_two(int exponent) {
  constexpr std::uint32_t denormal = 0x00400000U;  // 2^-127
  return float_of(exponent == -127 ? denormal : static_cast<std::uint32_t>(exponent + 127) << 23U);
}

// The scale of a block whose largest magnitude is `largest` and whose codes reach `top`. Never
// below the smallest normal number: its reciprocal would overflow. Blocks that small lose relative
// precision, at most smallest_normal in each value.
[[nodiscard]] PAYOFF_HD inline float block_scale(float largest, float top) {
  return larger(largest / top, smallest_normal);
}

[[nodiscard]] PAYOFF_HD constexpr std::size_t divided_up(std::size_t value, std::size_t by) {
  return (value + by - 1) / by;
}

}  // namespace payoff::kernels
