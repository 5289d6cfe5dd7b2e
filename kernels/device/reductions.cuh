// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/fixed_order.hpp"
#include "kernels/codec/minifloat.hpp"
#include "kernels/device/platform.cuh"

// Maxima, in any order, and sums, in the order of codec/fixed_order.hpp.

namespace payoff::kernels {

// The largest magnitude's bits; *largest_key starts at zero. Threads stride over the tensor, so the
// grid is a few blocks a multiprocessor and there are few atomic operations.
template <typename T>
__global__ void largest_magnitude_key(const T* in, std::uint32_t* largest_key, std::size_t count) {
  std::uint32_t key = 0;
  stride_over(in, count, [&](T value) {
    const std::uint32_t other = magnitude_key(to_float(value));
    key = key < other ? other : key;
  });
  key = largest_of_lanes(key, warp_lanes);
  if (warp_lane() == 0) {
    atomicMax(largest_key, key);
  }
}

struct MagnitudeTerm {
  const float* values;
  [[nodiscard]] __device__ float operator()(std::size_t i) const { return magnitude(values[i]); }
};
struct ValueTerm {
  const float* values;
  [[nodiscard]] __device__ float operator()(std::size_t i) const { return values[i]; }
};
struct SquareTerm {
  const float* values;
  [[nodiscard]] __device__ float operator()(std::size_t i) const { return values[i] * values[i]; }
};
// The corrected gradient: it is also written where the error was, for the pass that follows.
struct CorrectedTerm {
  const float* gradient;
  float* error;
  [[nodiscard]] __device__ float operator()(std::size_t i) const {
    const float corrected = error[i] + gradient[i];
    error[i] = corrected;
    return magnitude(corrected);
  }
};

// One block of `sum_lanes` threads for each tile.
template <typename Term>
__global__ void tile_sums(Term term, float* sums, std::size_t count) {
  __shared__ float lanes[sum_lanes];
  const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * sum_tile;
  const std::size_t end = begin + sum_tile < count ? begin + sum_tile : count;
  lanes[threadIdx.x] = lane_sum(term, threadIdx.x, begin, end);
  for (std::size_t stride = first_stride(); stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      lanes[threadIdx.x] += lanes[threadIdx.x + stride];
    }
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = lanes[0];
  }
}

}  // namespace payoff::kernels
