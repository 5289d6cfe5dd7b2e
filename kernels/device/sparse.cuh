// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/count_sketch.hpp"
#include "kernels/device/selection.cuh"

// Sparse messages that need no exact selection: thresholds, samples, chunks, shared permutations;
// their scattered sums; and sketches.

namespace payoff::kernels {

// Everything at or above a threshold, in the order it is found, up to `capacity` entries; *length
// counts what there would be.
PAYOFF_KERNEL void compact_above(const float* in, const float* threshold, SparseOutput out,
                                 std::uint32_t* length, std::uint32_t capacity, std::size_t count) {
  __shared__ BlockLists lists;
  const std::uint32_t limit = magnitude_key(*threshold);
  for (std::size_t begin = first_round(); begin < count; begin += round_step()) {
    float value[values_each];
    std::uint32_t wanted = 0;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      value[j] = i < count ? in[i] : 0.0F;
      wanted += i < count && magnitude_key(value[j]) >= limit ? 1U : 0U;
    }
    std::uint32_t place = lists.append(wanted, length, length).first;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      if (i < count && magnitude_key(value[j]) >= limit) {
        if (place < capacity) {
          out.indices[place] = static_cast<std::uint32_t>(i);
          out.values[place] = value[j];
        }
        ++place;
      }
    }
  }
}

PAYOFF_KERNEL void take_sample(const float* in, float* sample, std::size_t stride,
                               std::size_t sample_count) {
  const std::size_t i = global_thread();
  if (i < sample_count) {
    sample[i] = in[i * stride];
  }
}

// The k-th largest of the sample, as a value, once all digits are known.
PAYOFF_KERNEL void selected_value(const SelectState* state, float* threshold) {
  if (global_thread() == 0) {
    *threshold = float_of(state->selection.prefix);
  }
}

// A histogram of the candidates' next digit without lists: for samples, which are small.
PAYOFF_KERNEL void count_next_digit(const float* in, SelectState* state, int pass,
                                    std::size_t count) {
  __shared__ std::uint32_t bins[select_bins];
  clear_bins(bins);
  const Selection selection = state->selection;
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    const std::uint32_t key = magnitude_key(in[i]);
    if (compare_with_prefix(key, selection, pass) == 0) {
      atomicAdd(bins + digit_of(key, pass), 1U);
    }
  }
  add_bins(bins, state->histogram[pass]);
}

// A warp for each chunk: the largest by exchange, `kept` times. A short last chunk gives what it
// has; every chunk before it has `kept` places.
template <int chunk>
__global__ void top_of_each_chunk(const float* in, int kept, SparseOutput out, std::size_t count) {
  constexpr unsigned each = static_cast<unsigned>(chunk) / warp_lanes;
  const std::size_t number = global_thread() / warp_lanes;
  const std::size_t begin = number * chunk;
  std::uint64_t rank[each];
  for (unsigned i = 0; i < each; ++i) {
    const std::size_t index = begin + static_cast<std::size_t>(i) * warp_lanes + warp_lane();
    rank[i] = index < count ? ranked(in[index], static_cast<std::uint32_t>(index)) : 0U;
  }
  for (int j = 0; j < kept; ++j) {
    std::uint64_t best = 0;
    for (unsigned i = 0; i < each; ++i) {
      best = best < rank[i] ? rank[i] : best;
    }
    const std::uint64_t winner = largest_of_lanes(best, warp_lanes);
    for (unsigned i = 0; i < each; ++i) {
      rank[i] = rank[i] == winner ? 0U : rank[i];
    }
    if (warp_lane() == 0 && winner != 0U) {
      const std::size_t place =
          number * static_cast<std::size_t>(kept) + static_cast<std::size_t>(j);
      out.indices[place] = index_of(winner);
      out.values[place] = in[index_of(winner)];
    }
  }
}

// The indices are written only where a receiver needs them; with a shared seed nobody does.
PAYOFF_KERNEL void gather_random(const float* in, SharedPermutation permutation, float* values,
                                 std::uint32_t* indices, std::uint32_t k) {
  const auto i = static_cast<std::uint32_t>(global_thread());
  if (i < k) {
    const std::uint32_t index = permutation(i);
    values[i] = in[index];
    if (indices != nullptr) {
      indices[i] = index;
    }
  }
}

// Adds messages to a dense tensor that is zero. One after the other the sums are the host's; all at
// once they differ by the order of additions.
PAYOFF_KERNEL void scatter_sum(const std::uint32_t* indices, const float* values, float* dense,
                               std::size_t entries) {
  const std::size_t i = global_thread();
  if (i < entries) {
    atomicAdd(dense + indices[i], values[i]);
  }
}

struct SketchSize {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t seed;
};

PAYOFF_KERNEL void add_to_sketch(const float* in, float* sketch, SketchSize size,
                                 std::size_t count) {
  const std::size_t i = global_thread();
  if (i >= count) {
    return;
  }
  const float value = in[i];
  for (std::uint32_t row = 0; row < size.rows; ++row) {
    const SketchPlace place =
        sketch_place(static_cast<std::uint32_t>(i), row, size.columns, size.seed);
    atomicAdd(sketch + static_cast<std::size_t>(row) * size.columns + place.column,
              place.negated ? -value : value);
  }
}

PAYOFF_KERNEL void estimate_from_sketch(const float* sketch, float* out, SketchSize size,
                                        std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    out[i] =
        sketch_estimate(sketch, static_cast<std::uint32_t>(i), size.rows, size.columns, size.seed);
  }
}

}  // namespace payoff::kernels
