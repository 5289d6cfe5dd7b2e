// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/sparse.cuh"
#include "kernels/families/operators.cuh"

// Operators on places as a framework has them: a comparison gives a byte a value, its set bytes
// become places (counted first, for the size of the result), and values are taken at places.

namespace payoff::kernels {

struct AtLeast {
  const float* threshold;
  std::uint32_t limit = 0;
  [[nodiscard]] __device__ AtLeast at(std::size_t /*first*/) const {
    return {threshold, magnitude_key(*threshold)};
  }
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return magnitude_key(value) >= limit ? 1 : 0;
  }
};

// *total starts at zero.
PAYOFF_KERNEL void count_flags(const std::uint8_t* flags, std::uint32_t* total, std::size_t count) {
  std::uint32_t own = 0;
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    own += flags[i];
  }
  const std::uint32_t of_warp = sum_up_to_lane(own);
  if (warp_lane() == warp_lanes - 1) {
    atomicAdd(total, of_warp);
  }
}

// *length starts at zero; places in the order they are found.
PAYOFF_KERNEL void places_of_flags(const std::uint8_t* flags, std::uint32_t* places,
                                   std::uint32_t* length, std::size_t count) {
  __shared__ BlockLists lists;
  for (std::size_t begin = first_round(); begin < count; begin += round_step()) {
    std::uint32_t set[values_each];
    std::uint32_t wanted = 0;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      set[j] = i < count ? flags[i] : 0U;
      wanted += set[j];
    }
    std::uint32_t place = lists.append(wanted, length, length).first;
    PAYOFF_UNROLL_ALL
    for (unsigned j = 0; j < values_each; ++j) {
      const std::size_t i = place_in_round(begin, j);
      if (set[j] != 0U) {
        places[place++] = static_cast<std::uint32_t>(i);
      }
    }
  }
}

// As many values as *length says, for a grid that fits the most there can be.
PAYOFF_KERNEL void gather_listed(const float* in, const std::uint32_t* places,
                                 const std::uint32_t* length, float* out) {
  for (std::size_t i = global_thread(); i < *length; i += global_threads()) {
    out[i] = in[places[i]];
  }
}

PAYOFF_KERNEL void gather_places(const float* in, const std::uint32_t* places, float* out,
                                 std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    out[i] = in[places[i]];
  }
}

// Where a row of a sketch adds every value, and with which sign.
PAYOFF_KERNEL void hash_places(std::uint32_t* columns, float* signs, SketchSize size,
                               std::uint32_t row, std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    const SketchPlace place =
        sketch_place(static_cast<std::uint32_t>(i), row, size.columns, size.seed);
    columns[i] = place.column;
    signs[i] = place.negated ? -1.0F : 1.0F;
  }
}

PAYOFF_KERNEL void draw_places(SharedPermutation permutation, std::uint32_t* places,
                               std::uint32_t k) {
  const auto i = static_cast<std::uint32_t>(global_thread());
  if (i < k) {
    places[i] = permutation(i);
  }
}

}  // namespace payoff::kernels
