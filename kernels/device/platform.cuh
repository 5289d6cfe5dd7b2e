// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels include this and nothing of CUDA: nvcc compiles them for the GPU, any C++ compiler for
// the emulated grid that tests run.

#include <cstddef>
#include <cstdint>

#include "kernels/codec/portable.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define PAYOFF_UNROLL _Pragma("unroll 8")
#define PAYOFF_UNROLL_ALL _Pragma("unroll")
// A kernel that is no template: one for each source that includes it.
#define PAYOFF_KERNEL [[maybe_unused]] static __global__
// Blocks of so many threads, of which a multiprocessor need not hold two.
#define PAYOFF_BLOCKS_OF(threads) __launch_bounds__(threads, 1)
#else
#define PAYOFF_UNROLL
#define PAYOFF_UNROLL_ALL
#define PAYOFF_KERNEL inline
#define PAYOFF_BLOCKS_OF(threads)
#include "kernels/emulation/grid.hpp"
#endif

namespace payoff::kernels {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned warp_lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffU;

// So many values as one load or store.
template <typename T, std::size_t size>
struct alignas(sizeof(T) * size) Pack {
  T item[size];
};

[[nodiscard]] __device__ inline std::size_t global_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

[[nodiscard]] __device__ inline std::size_t global_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

// Gives every value of a tensor to `with`, four neighbours a load, on all threads of the grid.
template <typename T, typename With>
__device__ void stride_over(const T* in, std::size_t count, const With& with) {
  constexpr int width = 4;
  const std::size_t packs = count / width;
  for (std::size_t i = global_thread(); i < packs; i += global_threads()) {
    const auto values = reinterpret_cast<const Pack<T, width>*>(in)[i];
    for (int j = 0; j < width; ++j) {
      with(values.item[j]);
    }
  }
  for (std::size_t i = packs * width + global_thread(); i < count; i += global_threads()) {
    with(in[i]);
  }
}

[[nodiscard]] __device__ inline unsigned warp_lane() { return threadIdx.x % warp_lanes; }

// A clock that all multiprocessors share, in nanoseconds; on the emulated grid one that goes on by
// a microsecond whenever it is asked.
[[nodiscard]] __device__ inline unsigned long long device_nanoseconds() {
#if defined(__CUDACC__)
  unsigned long long time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
#else
  static unsigned long long time = 0;
  time += 1000;
  return time;
#endif
}

// The largest value of the lanes that differ in the bits below `lanes`, a power of two up to 32.
template <typename T>
[[nodiscard]] __device__ inline T largest_of_lanes(T value, unsigned lanes) {
  for (unsigned step = lanes / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(all_lanes, value, step);
    value = value < other ? other : value;
  }
  return value;
}

// The sum of the lanes below and of this one.
[[nodiscard]] __device__ inline std::uint32_t sum_up_to_lane(std::uint32_t value) {
  PAYOFF_UNROLL_ALL
  for (unsigned step = 1; step < warp_lanes; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, value, step);
    value += warp_lane() >= step ? other : 0U;
  }
  return value;
}

}  // namespace payoff::kernels
