// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/units.hpp"

// The reference model MG-WFBP: S. Shi, X. Chu, B. Li, "MG-WFBP: Merging Gradients Wisely for
// Efficient Communication in Distributed Deep Learning", IEEE TPDS 2021, arXiv 1912.09268v2 (read
// there: equations 6-8 and 10, theorem 1, algorithm 1). Wait-free backpropagation sends the
// gradients of a layer as soon as they exist, one all-reduce at a time; MG-WFBP merges a layer's
// message into the next one wherever that ends earlier. Valid for data parallelism alone, an
// all-reduce whose time is linear in its size, no compression, and a communication that does not
// slow the computation. Forward and optimizer are outside. The theorem weighs one merge at a time:
// over all merges it is not always the best (tests/model/reference_mgwfbp_test.cpp has three
// layers).

namespace payoff {

// Equation 10: the whole collective, not a hop. Zero bytes take no time: nothing is sent.
struct LinearAllReduce {
  Seconds startup{};
  SecondsPerByte per_byte{};

  [[nodiscard]] Seconds time(Bytes size) const {
    return size > 0_B ? startup + per_byte * size : 0_s;
  }
};

// A layer with parameters, in the order of backward (the paper's layers L, L-1 .. 1).
struct LayerGradient {
  Seconds backward{};  // until its gradient is complete, from the layer before
  Bytes size{};
};

// Algorithm 1: how many neighbouring layers each message carries, in the order of backward.
[[nodiscard]] std::vector<std::size_t> merge_layers(std::span<const LayerGradient> layers,
                                                    const LinearAllReduce& all_reduce);

// Equations 6-8: from the start of backward to the end of the last message, where message i carries
// the next groups[i] layers. One layer a group is WFBP, one group is the single-layer method of
// equation 9.
[[nodiscard]] Seconds synchronised_backward(std::span<const LayerGradient> layers,
                                            std::span<const std::size_t> groups,
                                            const LinearAllReduce& all_reduce);

}  // namespace payoff
