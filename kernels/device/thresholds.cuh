// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/thresholds.hpp"
#include "kernels/device/selection.cuh"

// Thresholds that are looked for by counting (codec/thresholds.hpp): counts stay on the device, so
// that the host waits for none of them.

namespace payoff::kernels {

// In device memory.
struct ThresholdSearch {
  Bisection bisection;
  float threshold;      // the one to count for
  std::uint32_t count;  // of magnitudes that reach it
  std::uint32_t kept;   // entries of the result that are kept whatever else is
  std::uint32_t filling;
};

// Adds to search->count.
PAYOFF_KERNEL void count_reaching_threshold(const float* in, ThresholdSearch* search,
                                            std::size_t count) {
  const std::uint32_t limit = magnitude_key(search->threshold);
  std::uint32_t own = 0;
  stride_over(in, count, [&](float value) { own += magnitude_key(value) >= limit ? 1U : 0U; });
  const std::uint32_t of_warp = sum_up_to_lane(own);
  if (warp_lane() == warp_lanes - 1 && of_warp > 0) {
    atomicAdd(&search->count, of_warp);
  }
}

PAYOFF_KERNEL void start_bisection(ThresholdSearch* search, const float* sum,
                                   const std::uint32_t* largest_key, std::size_t count) {
  if (global_thread() == 0) {
    search->bisection = begun_bisection(*sum / static_cast<float>(count), float_of(*largest_key));
    search->threshold = middle_of(search->bisection);
    search->count = search->kept = search->filling = 0;
  }
}

PAYOFF_KERNEL void halve_bisection(ThresholdSearch* search, std::uint32_t k) {
  if (global_thread() == 0) {
    search->bisection = halved(search->bisection, search->count, k);
    search->threshold = middle_of(search->bisection);
    search->count = 0;
  }
}

PAYOFF_KERNEL void start_normal_threshold(ThresholdSearch* search, const float* sum,
                                          const float* squares, std::size_t count,
                                          float deviations) {
  if (global_thread() == 0) {
    search->threshold = normal_threshold(*sum, *squares, static_cast<float>(count), deviations);
    search->count = 0;
  }
}

PAYOFF_KERNEL void correct_threshold(ThresholdSearch* search, std::uint32_t k) {
  if (global_thread() == 0) {
    search->threshold = corrected_threshold(search->threshold, search->count, k);
    search->count = 0;
  }
}

// What a bisection keeps comes first, behind it what fills up to k: both in the order they are
// found.
PAYOFF_KERNEL void compact_bisected(const float* in, ThresholdSearch* search, SparseOutput out,
                                    std::uint32_t k, std::size_t count) {
  __shared__ BlockLists lists;
  const Bisection bisection = search->bisection;
  for (std::size_t begin = first_round(); begin < count; begin += round_step()) {
    float value[values_each];
    int side[values_each];
    std::uint32_t wanted = 0;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      value[j] = i < count ? in[i] : 0.0F;
      side[j] = i < count ? bisected_side(value[j], bisection) : -1;
      wanted += side[j] > 0 ? 1U : (side[j] == 0 ? 1U << 16U : 0U);
    }
    ListPlaces places = lists.append(wanted, &search->kept, &search->filling);
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const auto i = static_cast<std::uint32_t>(place_in_round(begin, j));
      if (side[j] > 0) {
        out.indices[places.first] = i;
        out.values[places.first++] = value[j];
      } else if (side[j] == 0 && bisection.kept + places.second < k) {
        out.indices[bisection.kept + places.second] = i;
        out.values[bisection.kept + places.second++] = value[j];
      }
    }
  }
}

}  // namespace payoff::kernels
