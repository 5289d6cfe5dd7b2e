// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/experiment.hpp"

// How fast a codec is against the size of what it is given, to be set beside the memory of its GPU
// and the network of its job: one gradient, a square matrix, encoded and decoded alone
// (docs/model.md, "Codecs"). What a step adds (copies into buckets, waiting for messages) is not in
// it, nor what compressing saves on the network.

namespace payoff {

struct CodecRate {
  Bytes size{};      // of the gradient, uncompressed
  Seconds encode{};  // of all rounds, on one GPU
  Seconds decode{};

  // Of the gradient: per second of encoding and decoding.
  [[nodiscard]] Bandwidth rate() const { return size / (encode + decode); }
};

// Of plans[plan], at whole squares near to the sizes. Sizes at which the method sends the gradient
// as it is have no entry; there are none at all where it compresses no gradients.
[[nodiscard]] std::vector<CodecRate> codec_rates(const PreparedExperiment& job, std::size_t plan,
                                                 const std::vector<Bytes>& sizes);

// Uncompressed gradients of that size, reduced by the data-parallel ranks: bytes of the gradient
// per second.
[[nodiscard]] Bandwidth reduction_rate(const PreparedExperiment& job, Bytes size);

// Traffic that reads or writes every byte of a gradient once cannot be faster; what stays in the
// L2 cache of the GPU can.
[[nodiscard]] Bandwidth memory_roof(const PreparedExperiment& job);

}  // namespace payoff
