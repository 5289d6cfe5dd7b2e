// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/minifloat.hpp"

// 8- and 4-bit numbers with a scale each block: e4m3 with a float scale for a whole tensor or 128
// values (Micikevicius et al., arXiv 2209.05433; DeepSeek-V3, arXiv 2412.19437, section 3.3);
// MXFP8 and MXFP4, a power of two each 32 (OCP Microscaling Formats 1.0, section 6.3); NVFP4, an
// e4m3 scale each 16 below a float scale of the tensor. A caller gives the block's largest
// magnitude: maxima need no order, so every reduction of the device gives the host's bytes.
// Valid for finite inputs.

namespace payoff::kernels {

inline constexpr float e4m3_top = 448.0F;
inline constexpr float e2m1_top = 6.0F;
inline constexpr std::size_t mx_block = 32;
inline constexpr std::size_t nv_block = 16;
inline constexpr std::size_t fp8_block = 128;

[[nodiscard]] PAYOFF_HD inline std::uint8_t encode_fp8(float value, float inverse_scale) {
  return static_cast<std::uint8_t>(encode_minifloat<e4m3>(value * inverse_scale));
}

[[nodiscard]] PAYOFF_HD inline float decode_fp8(std::uint8_t code, float scale) {
  return decode_minifloat<e4m3>(code) * scale;
}

// The shared exponent of an MX block as stored (bias 127): floor(log2(largest)) less the largest
// exponent of an element, 8 for e4m3 and 2 for e2m1. What then lies above the top saturates.
[[nodiscard]] PAYOFF_HD inline std::uint8_t mx_scale(float largest, int element_exponent) {
  const int exponent = static_cast<int>(bits_of(largest) >> 23U) - 127 - element_exponent;
  return static_cast<std::uint8_t>(exponent < -127 ? 0 : exponent + 127);
}

// A block of denormal numbers has scale 2^-127, whose inverse 2^127 is still a float.
[[nodiscard]] PAYOFF_HD inline float mx_inverse(std::uint8_t scale) {
  return power_of_two(127 - static_cast<int>(scale));
}
[[nodiscard]] PAYOFF_HD inline float mx_factor(std::uint8_t scale) {
  return power_of_two(static_cast<int>(scale) - 127);
}

struct Mxfp8 {
  static constexpr unsigned bits = 8;
  static constexpr int largest_exponent = 8;  // 448 = 1.75 * 2^8
  [[nodiscard]] PAYOFF_HD static std::uint32_t encode(float value, std::uint8_t scale) {
    return encode_minifloat<e4m3>(value * mx_inverse(scale));
  }
};
[[nodiscard]] PAYOFF_HD inline float decode_mxfp8(std::uint8_t code, std::uint8_t scale) {
  return decode_minifloat<e4m3>(code) * mx_factor(scale);
}

// The low half of a byte is the even index.
struct Mxfp4 {
  static constexpr unsigned bits = 4;
  static constexpr int largest_exponent = 2;  // 6 = 1.5 * 2^2
  [[nodiscard]] PAYOFF_HD static std::uint32_t encode(float value, std::uint8_t scale) {
    return encode_minifloat<e2m1>(value * mx_inverse(scale));
  }
};
[[nodiscard]] PAYOFF_HD inline float decode_mxfp4(std::uint32_t code, std::uint8_t scale) {
  return decode_minifloat<e2m1>(code) * mx_factor(scale);
}

[[nodiscard]] PAYOFF_HD inline float nv_tensor_scale(float largest_of_tensor) {
  return block_scale(largest_of_tensor, e2m1_top * e4m3_top);
}
[[nodiscard]] PAYOFF_HD inline std::uint8_t nv_scale(float largest, float tensor_scale) {
  return static_cast<std::uint8_t>(encode_minifloat<e4m3>(largest / e2m1_top / tensor_scale));
}
// What one unit of a block's codes is worth; zero where its scale rounds to zero.
[[nodiscard]] PAYOFF_HD inline float nv_factor(std::uint8_t scale, float tensor_scale) {
  return decode_minifloat<e4m3>(scale) * tensor_scale;
}
[[nodiscard]] PAYOFF_HD inline float nv_inverse(std::uint8_t scale, float tensor_scale) {
  const float factor = nv_factor(scale, tensor_scale);
  return factor > 0.0F ? 1.0F / larger(factor, smallest_normal) : 0.0F;
}
[[nodiscard]] PAYOFF_HD inline std::uint32_t encode_nvfp4(float value, float inverse) {
  return encode_minifloat<e2m1>(value * inverse);
}
[[nodiscard]] PAYOFF_HD inline float decode_nvfp4(std::uint32_t code, float factor) {
  return decode_minifloat<e2m1>(code) * factor;
}

[[nodiscard]] PAYOFF_HD inline std::uint8_t two_in_a_byte(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint8_t>(low | (high << 4U));
}
[[nodiscard]] PAYOFF_HD inline std::uint32_t half_byte(std::uint8_t byte, std::size_t index) {
  return index % 2 == 0 ? byte & 0xfU : static_cast<std::uint32_t>(byte) >> 4U;
}

}  // namespace payoff::kernels
