// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks that hold parts of the same sequences and attend to the whole of them. Where scores are
// causal, tokens are dealt so that every rank computes equally many (the first and the last parts
// together). Of an encoder with a decoder each rank has its part of both sequences: queries of its
// part of the decoder's attend to the whole of the encoder's, whose parts go round or are exchanged
// as those of its own are (both papers have keys of any origin; nobody has published such a run).
//
// ring: keys and values go round while blocks of scores are computed (Liu et al. 2023,
// arXiv:2310.01889; Megatron-Core's cp_comm_type p2p).
// all_to_all: heads are exchanged for tokens before and after attention (Jacobs et al. 2023,
// arXiv:2309.14509, DeepSpeed-Ulysses; Megatron-Core's a2a).
//
// Not here: all-gathered keys and values, combinations of the two.

namespace payoff {

enum class ContextExchange { ring, all_to_all };

struct ContextParts {
  int ranks{1};
  ContextExchange exchange{ContextExchange::ring};
};

}  // namespace payoff
