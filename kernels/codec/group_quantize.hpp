// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// 8, 4 or 2 bits a value in groups that share a step, symmetric about zero (ZeRO++, Wang et al.,
// arXiv 2306.10209; QSGD's uniform levels with the largest magnitude for the norm, Alistarh et al.,
// arXiv 1610.02132, section 3.3). Rounding to nearest errs by at most half a step, stochastic
// rounding by less than one step and by nothing on average. Valid for finite values.

namespace payoff::kernels {

template <int bits>
inline constexpr std::uint32_t top_code = (1U << static_cast<unsigned>(bits)) - 1U;

// An odd number of codes, so that zero is one of them, the middle: 255, 15 or 3.
template <int bits>
inline constexpr std::uint32_t middle_code = top_code<bits> >> 1U;

template <int bits>
[[nodiscard]] PAYOFF_HD inline float symmetric_step(float largest) {
  return block_scale(largest, static_cast<float>(middle_code<bits>));
}

// Rounds to nearest with offset 0.5, stochastically with an offset uniform in (0, 1).
template <int bits>
[[nodiscard]] PAYOFF_HD inline std::uint32_t quantize_symmetric(float value, float inverse_step,
                                                                float offset) {
  constexpr auto side = static_cast<float>(middle_code<bits>);
  const float level = value * inverse_step + (side + offset);
  return static_cast<std::uint32_t>(clamped(level, 0.0F, 2.0F * side));  // truncates
}

template <int bits>
[[nodiscard]] PAYOFF_HD inline float dequantize_symmetric(std::uint32_t code, float step) {
  constexpr auto side = static_cast<int>(middle_code<bits>);
  return static_cast<float>(static_cast<int>(code) - side) * step;
}

// Values in one byte, the lowest bits first.
template <int bits>
inline constexpr std::size_t codes_per_byte = 8 / bits;

template <int bits>
[[nodiscard]] PAYOFF_HD inline std::uint32_t code_at(std::uint8_t byte, std::size_t index) {
  const auto shift = static_cast<unsigned>(index % codes_per_byte<bits>) * bits;
  return (static_cast<std::uint32_t>(byte) >> shift) & top_code<bits>;
}

template <int bits>
[[nodiscard]] PAYOFF_HD inline std::uint8_t with_code(std::uint8_t byte, std::size_t index,
                                                      std::uint32_t code) {
  const auto shift = static_cast<unsigned>(index % codes_per_byte<bits>) * bits;
  return static_cast<std::uint8_t>(byte | (code << shift));
}

}  // namespace payoff::kernels
