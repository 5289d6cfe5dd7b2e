// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// Number formats narrower than float, by rounding to nearest, ties to even: bfloat16, IEEE 754
// binary16, and the 8- and 4-bit formats of Micikevicius et al., "FP8 formats for deep learning",
// arXiv 2209.05433, table 1 (e4m3, e5m2) and of the OCP Microscaling Formats specification 1.0
// (e2m1). The 8- and 4-bit formats saturate, as codecs need; binary16 and bfloat16 overflow to
// infinity, as casts do. Checked for every code and every tie in tests/kernels/minifloat_test.cpp.

namespace payoff::kernels {

struct Bf16 {
  std::uint16_t bits{};
};

struct Half {
  std::uint16_t bits{};
};

// A format of `exponent` and `mantissa` bits; `largest` is the code of its largest finite value.
struct Minifloat {
  int exponent_bits{};
  int mantissa_bits{};
  std::uint32_t largest{};
  bool saturates{};

  [[nodiscard]] PAYOFF_HD constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] PAYOFF_HD constexpr std::uint32_t sign() const {
    return 1U << static_cast<unsigned>(exponent_bits + mantissa_bits);
  }
};

inline constexpr Minifloat binary16{5, 10, 0x7bffU, false};
inline constexpr Minifloat e4m3{4, 3, 0x7eU, true};  // 448; code 0x7f is NaN
inline constexpr Minifloat e5m2{5, 2, 0x7bU, true};  // 57344; 0x7c infinity, above it NaN
inline constexpr Minifloat e2m1{2, 1, 0x7U, true};   // 6; no infinity, no NaN

template <Minifloat format>
[[nodiscard]] PAYOFF_HD inline std::uint32_t encode_magnitude(std::uint32_t bits) {
  constexpr unsigned shift = 23U - format.mantissa_bits;
  constexpr auto rebias = static_cast<std::uint32_t>(127 - format.bias());
  constexpr std::uint32_t smallest = (rebias + 1U) << 23U;  // smallest normal value, as a float
  if (bits < smallest) {
    // Steps of 2^(1 - bias - mantissa bits): adding a float whose last bit is one step rounds.
    constexpr std::uint32_t magic = (rebias + 1U + 23U - format.mantissa_bits) << 23U;
    return bits_of(float_of(bits) + float_of(magic)) - magic;
  }
  const std::uint32_t to_even = ((1U << (shift - 1U)) - 1U) + ((bits >> shift) & 1U);
  return ((bits + to_even) >> shift) - (rebias << static_cast<unsigned>(format.mantissa_bits));
}

template <Minifloat format>
[[nodiscard]] PAYOFF_HD inline std::uint32_t encode_minifloat(float value) {
  const std::uint32_t bits = magnitude_key(value);
  const std::uint32_t sign = (bits_of(value) & sign_bit) != 0U ? format.sign() : 0U;
  if (bits > infinity_bits) {  // NaN; e2m1 has none and gives its largest value
    return sign |
           (format.saturates && format.exponent_bits == 2 ? format.largest : format.sign() - 1U);
  }
  const std::uint32_t code = encode_magnitude<format>(bits);
  if (code <= format.largest) {
    return sign | code;
  }
  return sign | (format.saturates ? format.largest : format.largest + 1U);
}

// What the codes above the largest finite one stand for.
template <Minifloat format>
[[nodiscard]] PAYOFF_HD inline float decode_special(std::uint32_t code) {
  constexpr std::uint32_t quiet_nan = 0x7fc00000U;
  constexpr bool has_infinity = format.exponent_bits == 5;
  return float_of(has_infinity && code == format.largest + 1U ? infinity_bits : quiet_nan);
}

template <Minifloat format>
[[nodiscard]] PAYOFF_HD inline float decode_minifloat(std::uint32_t code) {
  constexpr unsigned shift = 23U - format.mantissa_bits;
  constexpr int least_exponent = 1 - format.bias() - format.mantissa_bits;
  const std::uint32_t size = code & (format.sign() - 1U);
  float value = 0.0F;
  if (size > format.largest) {
    value = decode_special<format>(size);
  } else if (size < (1U << static_cast<unsigned>(format.mantissa_bits))) {
    value = static_cast<float>(size) * power_of_two(least_exponent);
  } else {
    value = float_of((size << shift) + (static_cast<std::uint32_t>(127 - format.bias()) << 23U));
  }
  return (code & format.sign()) != 0U ? -value : value;
}

[[nodiscard]] PAYOFF_HD inline Bf16 to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & magnitude_bits) > infinity_bits) {
    return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};  // stays a NaN, quiet
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U)};
}

[[nodiscard]] PAYOFF_HD inline Half to_half(float value) {
  return {static_cast<std::uint16_t>(encode_minifloat<binary16>(value))};
}

[[nodiscard]] PAYOFF_HD inline float to_float(float value) { return value; }
[[nodiscard]] PAYOFF_HD inline float to_float(Bf16 value) {
  return float_of(static_cast<std::uint32_t>(value.bits) << 16U);
}
[[nodiscard]] PAYOFF_HD inline float to_float(Half value) {
  return decode_minifloat<binary16>(value.bits);
}

}  // namespace payoff::kernels
