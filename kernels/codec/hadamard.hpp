// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/counter_random.hpp"

// The randomised Hadamard transform of a tile of 2^m values: random signs, then m rounds of
// butterflies, then 2^(-m/2) so that lengths stay what they were. The inverse is the transform
// again, then the same signs. It spreads outliers before quantisation (SDP4Bit, arXiv 2410.15526,
// section 3.3: tiles of 32 by 32; THC, Li et al., NSDI 2024: whole tensors). Every output is the
// same tree of additions whoever computes it.

namespace payoff::kernels {

struct Butterfly {
  float sum{};
  float difference{};
};

[[nodiscard]] PAYOFF_HD inline Butterfly butterfly(float a, float b) { return {a + b, a - b}; }

// 2^(-m/2) for a tile of 2^m values.
[[nodiscard]] PAYOFF_HD inline float hadamard_norm(int log2_tile) {
  constexpr float half_root = 0.70710678118654752F;
  const float whole = power_of_two(-(log2_tile / 2));
  return log2_tile % 2 == 0 ? whole : whole * half_root;
}

// The random sign of a position: one bit of the counter's words, 128 positions a call.
[[nodiscard]] PAYOFF_HD inline bool flips(RandomKey key, std::size_t index) {
  const RandomWords words = random_words(key, index / 128);
  return ((words.word[(index / 32) % 4] >> (index % 32)) & 1U) != 0U;
}

[[nodiscard]] PAYOFF_HD inline float with_random_sign(float value, RandomKey key,
                                                      std::size_t index) {
  return flips(key, index) ? -value : value;
}

// The butterfly of round `round` that thread `pair` of a tile computes: its two places.
struct PairOfPlaces {
  std::size_t low{};
  std::size_t high{};
};

[[nodiscard]] PAYOFF_HD inline PairOfPlaces butterfly_places(std::size_t pair, unsigned round) {
  const std::size_t stride = std::size_t{1} << round;
  const std::size_t low = ((pair >> round) << (round + 1U)) | (pair & (stride - 1));
  return {low, low + stride};
}

}  // namespace payoff::kernels
