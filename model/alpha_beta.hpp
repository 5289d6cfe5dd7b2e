// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/units.hpp"

// The textbook prices of an all-reduce: every message costs alpha + bytes / beta, links work in
// both directions at once, arithmetic is free. What other predictors use, and a lower yardstick
// beside model/collective.hpp: no protocol, no achieved share of a link, no pipeline to fill.
//
// Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
// 2005: ring (section 4.5.3), recursive halving and doubling with the extra exchange of a number of
// ranks that is no power of two (4.5.2). Two levels: reduce-scatter inside a node, all-reduce of a
// share between nodes, all-gather inside. Valid for ranks >= 1; one rank costs nothing.

namespace payoff {

struct AlphaBeta {
  Seconds alpha{};   // of a message
  Bandwidth beta{};  // of a rank, one direction
};

[[nodiscard]] Seconds ring_all_reduce(int ranks, Bytes size, const AlphaBeta& link);
// Also the price of a reduce-scatter, whose steps run in the other order.
[[nodiscard]] Seconds ring_all_gather(int ranks, Bytes gathered, const AlphaBeta& link);
[[nodiscard]] Seconds halving_doubling_all_reduce(int ranks, Bytes size, const AlphaBeta& link);
// Up and down a binary tree, the message in so many pieces that they fill it: latency of every
// level twice, and the bytes twice.
[[nodiscard]] Seconds tree_all_reduce(int ranks, Bytes size, const AlphaBeta& link);
// `between` is what one rank has of the network when all ranks of its node use it at once.
[[nodiscard]] Seconds two_level_all_reduce(int ranks_per_node, int nodes, Bytes size,
                                           const AlphaBeta& inside, const AlphaBeta& between);

}  // namespace payoff
