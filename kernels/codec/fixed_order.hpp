// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// A sum of floats whose order does not depend on who computes it: tiles of 2,048 values; inside a
// tile 256 lanes add every 256th value in turn, and a tree of halving strides joins the lanes; the
// sums of the tiles are summed the same way until one is left. A block of 256 threads does it with
// one lane a thread, the host with a loop. The tree's error grows with the logarithm of the count:
// at most (8 + 8 + 1) u per level of tiles, u = 2^-24 (Higham, Accuracy and Stability,
// section 4.2).

namespace payoff::kernels {

inline constexpr std::size_t sum_lanes = 256;
inline constexpr std::size_t sum_tile = 2048;

// One step of the tree over the lanes; every stride has to be finished before the next begins.
[[nodiscard]] PAYOFF_HD constexpr std::size_t first_stride() { return sum_lanes / 2; }

// What a lane adds up of a tile: the terms come from `term(index)`.
template <typename Term>
[[nodiscard]] PAYOFF_HD inline float lane_sum(const Term& term, std::size_t lane, std::size_t begin,
                                              std::size_t end) {
  float sum = 0.0F;
  for (std::size_t index = begin + lane; index < end; index += sum_lanes) {
    sum += term(index);
  }
  return sum;
}

}  // namespace payoff::kernels
