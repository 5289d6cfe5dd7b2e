// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Sparse messages and sketches on the host, in the order that the device can be sorted into.

namespace payoff::kernels {

struct SparseMessage {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

// The bits of the k-th largest magnitude, by the passes of codec/selection.hpp; 1 <= k <= count.
[[nodiscard]] std::uint32_t select_key(std::span<const float> values, std::uint32_t k);

// The k largest magnitudes in the order of their indices; among equals the earlier ones.
[[nodiscard]] SparseMessage top_k(std::span<const float> values, std::uint32_t k);

// Everything at or above a threshold.
[[nodiscard]] SparseMessage above(std::span<const float> values, float threshold);

// A threshold for the k largest from every `stride`-th value (Deep Gradient Compression, Lin et
// al., arXiv 1712.01887, section 3): the k/stride-th largest of the sample.
[[nodiscard]] float sampled_threshold(std::span<const float> values, std::uint32_t k,
                                      std::uint32_t stride);

// The `kept` largest of every chunk, largest first; a chunk shorter than that gives what it has.
[[nodiscard]] SparseMessage top_of_chunks(std::span<const float> values, std::size_t chunk,
                                          std::size_t kept);

// Values at k places of a permutation that everybody who knows the seed can repeat.
[[nodiscard]] SparseMessage random_k(std::span<const float> values, std::uint32_t k,
                                     std::uint32_t seed);

// The sum of messages in a dense tensor, message after message.
[[nodiscard]] std::vector<float> scattered(std::span<const SparseMessage> messages,
                                           std::size_t count);

struct SketchShape {
  std::uint32_t rows{};
  std::uint32_t columns{};
  std::uint32_t seed{};
};

[[nodiscard]] std::vector<float> count_sketch(std::span<const float> values, SketchShape shape);
[[nodiscard]] std::vector<float> sketch_estimates(std::span<const float> sketch, SketchShape shape,
                                                  std::size_t count);

}  // namespace payoff::kernels
