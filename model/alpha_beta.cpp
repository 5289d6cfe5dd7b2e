// SPDX-License-Identifier: Apache-2.0
#include "model/alpha_beta.hpp"

#include "model/powers_of_two.hpp"

namespace payoff {
namespace {

// Messages of `steps` one after the other that carry `bytes` in all.
Seconds messages(double steps, Bytes bytes, const AlphaBeta& link) {
  return steps * link.alpha + bytes / link.beta;
}

}  // namespace

Seconds ring_all_gather(int ranks, Bytes gathered, const AlphaBeta& link) {
  const double n = ranks;
  return ranks < 2 ? 0_s : messages(n - 1, gathered * ((n - 1) / n), link);
}

Seconds ring_all_reduce(int ranks, Bytes size, const AlphaBeta& link) {
  return 2 * ring_all_gather(ranks, size, link);
}

Seconds halving_doubling_all_reduce(int ranks, Bytes size, const AlphaBeta& link) {
  if (ranks < 2) {
    return 0_s;
  }
  const int levels = log2_floor(ranks);
  const int power = 1 << levels;
  // The ranks beyond the power of two hand their data to a neighbour first and get the sum last.
  const Seconds folded = power == ranks ? 0_s : messages(2, 2 * size, link);
  return folded + messages(2.0 * levels, size * (2.0 * (power - 1) / power), link);
}

Seconds tree_all_reduce(int ranks, Bytes size, const AlphaBeta& link) {
  if (ranks < 2) {
    return 0_s;
  }
  const int levels = log2_ceiling(ranks);
  return messages(2.0 * levels, 2 * size, link);
}

Seconds two_level_all_reduce(int ranks_per_node, int nodes, Bytes size, const AlphaBeta& inside,
                             const AlphaBeta& between) {
  return 2 * ring_all_gather(ranks_per_node, size, inside) +
         ring_all_reduce(nodes, size * (1.0 / ranks_per_node), between);
}

}  // namespace payoff
