// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/counter_random.hpp"

// 8, 4 or 2 bits a value in groups that share a scale: symmetric about zero (ZeRO++, Wang et al.,
// arXiv 2306.10209; QSGD's uniform levels with the largest magnitude for the norm, Alistarh et al.,
// arXiv 1610.02132, section 3.3) or between the smallest and the largest value (CGX, Markov et al.,
// arXiv 2111.08617). Rounding to nearest errs by at most half a step, stochastic rounding by less
// than one step and by nothing on average. Valid for finite values below half the largest float.

namespace payoff::kernels {

// How a group of values maps to codes: value = origin + code * step.
struct GroupScale {
  float step{};
  float origin{};
};

template <int bits>
inline constexpr std::uint32_t top_code = (1U << static_cast<unsigned>(bits)) - 1U;

// An odd number of codes, so that zero is one of them: 255, 15 or 3.
template <int bits>
[[nodiscard]] PAYOFF_HD inline GroupScale symmetric_scale(float largest) {
  constexpr auto side = static_cast<float>(top_code<bits> >> 1U);
  const float step = block_scale(largest, side);
  return {step, -side * step};
}

template <int bits>
[[nodiscard]] PAYOFF_HD inline GroupScale range_scale(float low, float high) {
  return {block_scale(high - low, static_cast<float>(top_code<bits>)), low};
}

// Rounds to nearest with offset 0.5, stochastically with an offset uniform in (0, 1).
template <int bits>
[[nodiscard]] PAYOFF_HD inline std::uint32_t quantize(float value, GroupScale scale,
                                                      float inverse_step, float offset) {
  const float level = (value - scale.origin) * inverse_step + offset;
  constexpr auto top = static_cast<float>(top_code<bits>);
  return static_cast<std::uint32_t>(clamped(level, 0.0F, top));  // truncates
}

[[nodiscard]] PAYOFF_HD inline float dequantize(std::uint32_t code, GroupScale scale) {
  return scale.origin + static_cast<float>(code) * scale.step;
}

// Symmetric codes carry no origin: code - side, exactly an integer, times the step.
template <int bits>
[[nodiscard]] PAYOFF_HD inline std::uint32_t quantize_symmetric(float value, float inverse_step,
                                                                float offset) {
  constexpr auto side = static_cast<float>(top_code<bits> >> 1U);
  const float level = value * inverse_step + (side + offset);
  return static_cast<std::uint32_t>(clamped(level, 0.0F, 2.0F * side));
}

template <int bits>
[[nodiscard]] PAYOFF_HD inline float dequantize_symmetric(std::uint32_t code, float step) {
  constexpr auto side = static_cast<int>(top_code<bits> >> 1U);
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
