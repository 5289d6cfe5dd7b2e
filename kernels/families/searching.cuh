// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/thresholds.cuh"
#include "kernels/families/selecting.cuh"
#include "kernels/reference/thresholds.hpp"

// What benchmarks of thresholds that are looked for share, fused and as operators.

namespace payoff::kernels {

// As the methods' profiles have them (profiles/compression/mstopk.yaml, gaussiank.yaml).
inline constexpr int bisections = 20;
inline constexpr int corrections = 3;

using Search = Shared<ThresholdSearch>;

// Both searches of every size. Of a long plan one ratio: how many are kept hardly changes what is
// read.
using SearchOf = Benchmark (*)(const Shape& shape, double ratio);
[[nodiscard]] inline std::vector<Benchmark> searches_of(const Plan& plan, SearchOf bisection,
                                                        SearchOf normal) {
  std::vector<Benchmark> all;
  for (const double ratio : plan.ratios) {
    if (plan.thinned && ratio != plan.ratios.front()) {
      continue;
    }
    for (const Shape& shape : plan.shapes) {
      all.push_back(bisection(shape, ratio));
      all.push_back(normal(shape, ratio));
    }
  }
  return all;
}

// Room for two sums in order.
struct SumRoom {
  Shared<float> first;
  Shared<float> second;
  explicit SumRoom(std::size_t count)
      : first(array_of<float>(partial_sums(count))), second(array_of<float>(partial_sums(count))) {}
};

// Mean and largest of the magnitudes, and where their middle is.
inline void begin_bisection(Stream s, const float* in, const SumRoom& room, Word* largest,
                            ThresholdSearch* search, std::size_t n) {
  const float* sum = sum_in_order(s, MagnitudeTerm{in}, room.first->data(), n);
  find_largest(s, in, largest, n);
  launch(s, 1, warp_lanes, start_bisection, search, sum, largest, n);
}

inline void begin_normal(Stream s, const float* in, const SumRoom& room, ThresholdSearch* search,
                         std::size_t n, float deviations) {
  const float* sum = sum_in_order(s, ValueTerm{in}, room.first->data(), n);
  const float* squares = sum_in_order(s, SquareTerm{in}, room.second->data(), n);
  launch(s, 1, warp_lanes, start_normal_threshold, search, sum, squares, n, deviations);
}

// The entries are places of the tensor with their values, each once; all that the reference's
// thresholds keep are among them, and the others fill up.
[[nodiscard]] inline std::string bisected_mismatch(const SparseArrays& found,
                                                   const std::vector<float>& tensor, Word k) {
  const Bisection expected = bisected(tensor, k, bisections);
  const SparseMessage message = kept_by(expected, tensor, k);
  const std::size_t length = message.indices.size();
  if (!found.indices->guard_is_whole() || !found.values->guard_is_whole()) {
    return "entries: written past their end";
  }
  const std::vector<Word> indices = found.indices->read_first(length);
  const std::vector<float> values = found.values->read_first(length);
  std::vector<bool> taken(tensor.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const bool is_entry = indices[i] < tensor.size() && !taken[indices[i]] &&
                          bits_of(tensor[indices[i]]) == bits_of(values[i]);
    if (!is_entry || bisected_side(values[i], expected) < 0) {
      return "entry " + std::to_string(i) + " is no value of its place, there twice or too small";
    }
    taken[indices[i]] = true;
    kept += bisected_side(values[i], expected) > 0 ? 1U : 0U;
  }
  return kept == expected.kept ? ""
                               : "entries: " + std::to_string(kept) +
                                     " beyond the threshold, not " + std::to_string(expected.kept);
}

[[nodiscard]] inline std::string normal_mismatch(const Search& search, const SparseArrays& found,
                                                 std::size_t length,
                                                 const std::vector<float>& tensor, Word k,
                                                 float deviations) {
  const float expected = gaussian_threshold(tensor, k, deviations, corrections);
  const float threshold = search->read().front().threshold;
  return bits_of(threshold) != bits_of(expected)
             ? "threshold: " + std::to_string(threshold) + " instead of " + std::to_string(expected)
             : same_selection(found, length, tensor, above(tensor, expected));
}

}  // namespace payoff::kernels
