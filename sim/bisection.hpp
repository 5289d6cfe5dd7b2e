// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/link_graph.hpp"

// Bisection bandwidth: what the ranks of one half can send to those of the other, in one direction,
// for the worst division into halves. Which that is takes exponential time to know: up to 12 ranks
// all are tried, beyond that blocks of ranks of every size that divides the half (for a torus this
// is across each side, for trees and dragonflies along their levels), and the least is an upper
// bound. The weaker direction counts.

namespace payoff::sim {

struct Bisection {
  Bandwidth bandwidth;
  bool exact{};            // all divisions were tried
  std::vector<Rank> half;  // one side of the worst one
};

// At least two ranks.
[[nodiscard]] Bisection bisection(const LinkGraph& links);

// The ranks of one half of every division that is tried.
[[nodiscard]] std::vector<std::vector<Rank>> divisions(Rank ranks);

}  // namespace payoff::sim
