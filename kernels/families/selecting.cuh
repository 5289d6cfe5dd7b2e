// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/sparse.cuh"
#include "kernels/families/common.cuh"
#include "kernels/reference/sparse.hpp"

// What benchmarks of sparse messages share: how many values are kept, where they go, exact
// selection by radix select, and what makes two messages the same.

namespace payoff::kernels {

[[nodiscard]] inline Word kept(const Shape& shape, double ratio) {
  const double k = static_cast<double>(shape.elements) * ratio;
  return k < 1.0 ? 1U : static_cast<Word>(k);
}

struct SparseArrays {
  Shared<Word> indices;
  Shared<float> values;
  SparseArrays(Shared<Word> places, Shared<float> there)
      : indices(std::move(places)), values(std::move(there)) {}
  explicit SparseArrays(std::size_t capacity)
      : indices(array_of<Word>(capacity)), values(array_of<float>(capacity)) {}
  [[nodiscard]] SparseOutput output() const { return {indices->data(), values->data()}; }
};

// Whatever order they are in, the entries are places of the tensor with their values, each once,
// and their magnitudes are those of the reference's message.
[[nodiscard]] inline std::string same_selection(const SparseArrays& found, std::size_t length,
                                                const std::vector<float>& tensor,
                                                const SparseMessage& expected) {
  if (!found.indices->guard_is_whole() || !found.values->guard_is_whole()) {
    return "entries: written past their end";
  }
  if (length != expected.indices.size()) {
    return "entries: " + std::to_string(length) + " instead of " +
           std::to_string(expected.indices.size());
  }
  const std::vector<Word> indices = found.indices->read_first(length);
  const std::vector<float> values = found.values->read_first(length);
  std::vector<bool> taken(tensor.size());
  std::vector<Word> keys;
  std::vector<Word> expected_keys;
  for (std::size_t i = 0; i < length; ++i) {
    if (indices[i] >= tensor.size() || taken[indices[i]] ||
        bits_of(tensor[indices[i]]) != bits_of(values[i])) {
      return "entry " + std::to_string(i) + " is no value of its place, or there twice";
    }
    taken[indices[i]] = true;
    keys.push_back(magnitude_key(values[i]));
    expected_keys.push_back(magnitude_key(expected.values[i]));
  }
  std::sort(keys.begin(), keys.end());
  std::sort(expected_keys.begin(), expected_keys.end());
  return first_difference("magnitudes", as_bytes(keys), as_bytes(expected_keys));
}

// Work that leaves the k largest of a tensor in `out`, held to the reference's.
template <typename Run>
[[nodiscard]] Work work_of_top_k(const Shared<float>& in, const SparseArrays& out, Word k,
                                 const Run& run) {
  return Work{run,
              [=] {
                const std::vector<float> tensor = in->read();
                return same_selection(out, k, tensor, top_k(tensor, k));
              },
              [=] { return checksum_of(*out.values); }};
}

struct Selecting {
  Shared<SelectState> state = array_of<SelectState>(1);
  SparseArrays first;
  SparseArrays second;
  explicit Selecting(std::size_t count) : first(count), second(count) {}

  void run(Stream s, const float* in, std::size_t n, Word k, SparseOutput out) const {
    launch(s, 1, block_threads, start_selection, state->data(), k);
    launch(s, striding_blocks(n, 4UL * block_threads), block_threads, count_first_digit, in,
           state->data(), n);
    CandidateSource source{in, nullptr, n};
    for (int pass = 0; pass < select_passes; ++pass) {
      const SparseArrays& target = pass == 1 ? second : first;
      launch(s, 1, block_threads, narrow_selection, state->data(), pass);
      launch(s, striding_blocks(n, round_values), block_threads, filter_candidates, source,
             state->data(), pass, target.output(), out);
      source = {target.values->data(), target.indices->data(), n};
    }
  }
};

inline void compact(Stream s, const float* in, const float* threshold, const SparseArrays& out,
                    Word* length, std::size_t n) {
  fill_in_stream(s, length, 0, sizeof(Word));
  launch(s, striding_blocks(n, round_values), block_threads, compact_above, in, threshold,
         out.output(), length, static_cast<Word>(out.indices->count()), n);
}

// The k-th largest magnitude of a tensor, before anything is measured.
[[nodiscard]] inline Shared<float> exact_threshold(const DeviceArray<float>& in, Word k) {
  auto threshold = array_of<float>(1);
  const Selecting selecting(in.count());
  const SparseArrays exact(k);
  selecting.run(Stream{}, in.data(), in.count(), k, exact.output());
  launch(Stream{}, 1, warp_lanes, selected_value, selecting.state->data(), threshold->data());
  wait_for(Stream{});
  return threshold;
}

// Deep Gradient Compression's threshold, from every hundredth value.
inline constexpr Word sample_stride = 100;

// A sample needs a hundred values for each of its own.
[[nodiscard]] inline bool can_be_sampled(const Shape& shape, double ratio) {
  return static_cast<double>(shape.elements) * ratio >= static_cast<double>(sample_stride);
}

struct Sampling {
  Shared<float> sample;
  Shared<SelectState> state = array_of<SelectState>(1);
  Shared<float> threshold = array_of<float>(1);

  explicit Sampling(std::size_t count)
      : sample(array_of<float>(divided_up(count, std::size_t{sample_stride}))) {}

  void run(Stream s, const float* in, Word k) const {
    const std::size_t sampled = sample->count();
    const Word in_sample = k / sample_stride > 0 ? k / sample_stride : 1U;
    launch_threads(s, sampled, take_sample, in, sample->data(), std::size_t{sample_stride},
                   sampled);
    launch(s, 1, block_threads, start_selection, state->data(), in_sample);
    for (int pass = 0; pass < select_passes; ++pass) {
      launch(s, striding_blocks(sampled, block_threads), block_threads, count_next_digit,
             sample->data(), state->data(), pass, sampled);
      launch(s, 1, block_threads, narrow_selection, state->data(), pass);
    }
    launch(s, 1, warp_lanes, selected_value, state->data(), threshold->data());
  }
};

// The reference's message for the threshold of a sample.
[[nodiscard]] inline std::string sampled_mismatch(const Sampling& sampling,
                                                  const SparseArrays& found, std::size_t length,
                                                  const std::vector<float>& tensor, Word k) {
  const float expected = sampled_threshold(tensor, k, sample_stride);
  return first_of(differs("threshold", *sampling.threshold, std::vector<float>{expected}),
                  same_selection(found, length, tensor, above(tensor, expected)));
}

}  // namespace payoff::kernels
