// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks that divide the experts of every mixture among them (Lepikhin et al. 2020,
// arXiv:2006.16668; Fedus et al. 2021, arXiv:2101.03961). Tokens are sent to the ranks of their
// experts before the products and back after them, both all-to-all; all ranks wait for the one
// with most tokens.
//
// Tensor parallelism does not divide experts, `tensor` does (Megatron-Core's
// expert-tensor-parallel-size): neighbours hold the columns and rows of the same experts. Where
// they have different tokens, which sequence parallelism or tp 1 gives, they gather those of all of
// them after the first all-to-all and scatter the sums before the second (Megatron-Core's
// MoEAlltoAllTokenDispatcher; backward the other way round). Where `tensor` is tp and all ranks of
// a tensor group have the same tokens, the outputs are all-reduced, in backward the gradients of
// the inputs (Singh et al. 2023, arXiv:2303.06318, section 3).
//
// Without: dispatch that overlaps with other work (DualPipe, DeepEP), limits on the nodes that a
// token is sent to, all-to-all by way of a rail, the gather within a node that leaves out tokens
// which a rank has already.

namespace payoff {

struct ExpertParts {
  int ranks{1};
  double load{1};  // of the busiest rank, over the mean
  int tensor{1};
};

}  // namespace payoff
