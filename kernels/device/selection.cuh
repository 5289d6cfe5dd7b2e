// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/selection.hpp"
#include "kernels/device/platform.cuh"

// Exact Top-K by radix select: a histogram of the first digit reads the tensor; the first filter
// reads it again, sends what is surely among the k straight to the result and what may be to a list
// of candidates, whose next digit it counts on the way; the later filters read candidates only. The
// order of the result and the choice among equals are whatever comes first.

namespace payoff::kernels {

// In device memory; start_selection() prepares it.
struct SelectState {
  std::uint32_t histogram[select_passes][select_bins];
  Selection selection;
  std::uint32_t candidates[select_passes];  // found by each filter
  std::uint32_t found;                      // entries of the result that are larger than the k-th
  std::uint32_t wanted;                     // k
};

struct SparseOutput {
  std::uint32_t* indices;
  float* values;
};

// Places in two lists for a whole block, by one atomic operation on each list: single appends would
// queue up at the counter's address. A thread asks for several places of both at once.
inline constexpr unsigned values_each = 8;  // of a thread in one round
inline constexpr unsigned round_values = values_each * block_threads;

// A block's rounds begin here, and lie so far apart.
[[nodiscard]] __device__ inline std::size_t first_round() {
  return static_cast<std::size_t>(blockIdx.x) * round_values;
}
[[nodiscard]] __device__ inline std::size_t round_step() {
  return static_cast<std::size_t>(gridDim.x) * round_values;
}
// The j-th of a thread's values in the round that begins there.
[[nodiscard]] __device__ inline std::size_t place_in_round(std::size_t begin, unsigned j) {
  return begin + static_cast<std::size_t>(j) * block_threads + threadIdx.x;
}

struct ListPlaces {
  std::uint32_t first;
  std::uint32_t second;
};

struct BlockLists {
  std::uint32_t warps[block_threads / warp_lanes];
  ListPlaces start;

  // `wanted` has the places for the first list in its lower half, those for the second above.
  // Every thread of the block calls it; a list that nobody wants is not touched.
  __device__ ListPlaces append(std::uint32_t wanted, std::uint32_t* first, std::uint32_t* second) {
    const std::uint32_t up_to_here = sum_up_to_lane(wanted);
    const unsigned warp = threadIdx.x / warp_lanes;
    if (warp_lane() == warp_lanes - 1) {
      warps[warp] = up_to_here;
    }
    __syncthreads();
    std::uint32_t before = up_to_here - wanted;
    std::uint32_t total = 0;
    PAYOFF_UNROLL_ALL
    for (unsigned other = 0; other < block_threads / warp_lanes; ++other) {
      before += other < warp ? warps[other] : 0U;
      total += warps[other];
    }
    if (threadIdx.x == 0) {
      const std::uint32_t low = total & 0xffffU;
      const std::uint32_t high = total >> 16U;
      start.first = low > 0 ? atomicAdd(first, low) : 0U;
      start.second = high > 0 ? atomicAdd(second, high) : 0U;
    }
    __syncthreads();  // the next call writes `warps` after it and `start` after another barrier
    return {start.first + (before & 0xffffU), start.second + (before >> 16U)};
  }
};

PAYOFF_KERNEL void start_selection(SelectState* state, std::uint32_t k) {
  for (unsigned bin = threadIdx.x; bin < select_bins; bin += blockDim.x) {
    for (int pass = 0; pass < select_passes; ++pass) {
      state->histogram[pass][bin] = 0;
    }
  }
  if (threadIdx.x == 0) {
    state->selection = {0, k};
    state->found = 0;
    state->wanted = k;
    for (int pass = 0; pass < select_passes; ++pass) {
      state->candidates[pass] = 0;
    }
  }
}

__device__ inline void clear_bins(std::uint32_t* bins) {
  for (unsigned bin = threadIdx.x; bin < select_bins; bin += blockDim.x) {
    bins[bin] = 0;
  }
  __syncthreads();
}

__device__ inline void add_bins(const std::uint32_t* bins, std::uint32_t* histogram) {
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < select_bins; bin += blockDim.x) {
    if (bins[bin] != 0) {
      atomicAdd(histogram + bin, bins[bin]);
    }
  }
}

PAYOFF_KERNEL void count_first_digit(const float* in, SelectState* state, std::size_t count) {
  __shared__ std::uint32_t bins[select_bins];
  clear_bins(bins);
  stride_over(in, count,
              [](float value) { atomicAdd(bins + digit_of(magnitude_key(value), 0), 1U); });
  add_bins(bins, state->histogram[0]);
}

// One block: the digit where the counts from the top reach what remains. Each thread sums eight
// bins; the sums of the threads above it are added by halving steps.
PAYOFF_KERNEL void narrow_selection(SelectState* state, int pass) {
  constexpr unsigned bins_each = select_bins / block_threads;
  __shared__ std::uint32_t above[block_threads];
  const std::uint32_t* counts = state->histogram[pass];
  const unsigned first = threadIdx.x * bins_each;
  std::uint32_t own = 0;
  for (unsigned bin = first; bin < first + bins_each; ++bin) {
    own += counts[bin];
  }
  above[threadIdx.x] = own;
  for (unsigned step = 1; step < block_threads; step *= 2) {
    __syncthreads();
    const std::uint32_t more = threadIdx.x + step < block_threads ? above[threadIdx.x + step] : 0U;
    __syncthreads();
    above[threadIdx.x] += more;
  }
  __syncthreads();
  const std::uint32_t remaining = state->selection.remaining;
  std::uint32_t before = above[threadIdx.x] - own;  // in the bins above this thread's
  __syncthreads();
  if (before >= remaining || before + own < remaining) {
    return;
  }
  for (unsigned bin = first + bins_each; bin-- > first;) {
    if (before + counts[bin] >= remaining) {
      state->selection.prefix |= bin << digit_shift(pass);
      state->selection.remaining = remaining - before;
      return;
    }
    before += counts[bin];
  }
}

// The list a filter reads: a tensor first, then candidates of the filter before.
struct CandidateSource {
  const float* values;
  const std::uint32_t* indices;  // none: the tensor itself
  std::size_t count;             // of the tensor
};

// What one thread looks at in one round, and which side of the k-th magnitude it lies on.
struct CandidateRound {
  float value[values_each];
  std::uint32_t index[values_each];
  int side[values_each];

  __device__ void load(const CandidateSource& source, std::size_t begin, std::size_t count,
                       Selection selection, int digits) {
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      const bool there = i < count;
      value[j] = there ? source.values[i] : 0.0F;
      index[j] =
          there && source.indices != nullptr ? source.indices[i] : static_cast<std::uint32_t>(i);
      side[j] = there ? compare_with_prefix(magnitude_key(value[j]), selection, digits) : -1;
    }
  }

  [[nodiscard]] __device__ std::uint32_t wanted() const {
    std::uint32_t places = 0;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      places += side[j] > 0 ? 1U : 0U;
      places += side[j] == 0 ? 1U << 16U : 0U;
    }
    return places;
  }
};

// After `pass` + 1 digits are known. The last filter has no candidates left: keys are equal to the
// k-th, and as many are taken as are missing.
PAYOFF_KERNEL void filter_candidates(CandidateSource source, SelectState* state, int pass,
                                     SparseOutput candidates, SparseOutput out) {
  __shared__ std::uint32_t bins[select_bins];
  __shared__ BlockLists lists;
  clear_bins(bins);
  const bool last = pass == select_passes - 1;
  const Selection selection = state->selection;
  const std::size_t count = pass == 0 ? source.count : state->candidates[pass - 1];
  // Whole blocks stay in the loop: every thread takes part in the appending.
  for (std::size_t begin = first_round(); begin < count; begin += round_step()) {
    CandidateRound round;
    round.load(source, begin, count, selection, pass + 1);
    ListPlaces places = lists.append(round.wanted(), &state->found, &state->candidates[pass]);
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      if (round.side[j] > 0) {
        out.indices[places.first] = round.index[j];
        out.values[places.first++] = round.value[j];
      } else if (round.side[j] == 0 && !last) {
        candidates.indices[places.second] = round.index[j];
        candidates.values[places.second++] = round.value[j];
        atomicAdd(bins + digit_of(magnitude_key(round.value[j]), pass + 1), 1U);
      } else if (round.side[j] == 0 && places.second < selection.remaining) {
        // The larger ones are as many as k less what remains, whenever they are found.
        const std::uint32_t behind = state->wanted - selection.remaining + places.second++;
        out.indices[behind] = round.index[j];
        out.values[behind] = round.value[j];
      }
    }
  }
  if (!last) {
    add_bins(bins, state->histogram[pass + 1]);
  }
}

}  // namespace payoff::kernels
