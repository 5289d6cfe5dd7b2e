// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks that divide the experts of every mixture among them (Lepikhin et al. 2020,
// arXiv:2006.16668; Fedus et al. 2021, arXiv:2101.03961). Tokens are sent to the ranks of their
// experts before the products and back after them, both all-to-all; all ranks wait for the one
// with most tokens. An expert is whole on its rank: tensor parallelism does not divide it
// (Megatron-Core's expert-tensor-parallel-size 1), so that the ranks of a tensor group send
// different tokens, which needs sequence parallelism.
//
// Without: experts divided by tensor parallelism, dispatch that overlaps with other work (DualPipe,
// DeepEP), limits on the nodes that a token is sent to, all-to-all by way of a rail.

namespace payoff {

struct ExpertParts {
  int ranks{1};
  double load{1};  // of the busiest rank, over the mean
};

}  // namespace payoff
