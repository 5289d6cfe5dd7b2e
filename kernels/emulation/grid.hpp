// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

// Runs CUDA kernels on the CPU, so that their indexing, barriers and shuffles are tested where
// there is no GPU: every thread of a block is a fiber, blocks run one after the other,
// __syncthreads and the warp's exchanges switch fibers. `__shared__` is static storage, which one
// block at a time uses. What it cannot show: races between blocks, memory order, speed. Full warps
// only (every lane takes part in every exchange), block sizes that are multiples of 32.

namespace payoff::kernels::emulation {

struct Dimensions {
  unsigned x{1};
  unsigned y{1};
  unsigned z{1};
};

struct Place {
  Dimensions thread;
  Dimensions block;
  Dimensions block_size;
  Dimensions grid_size;
};

inline constexpr unsigned warp_size = 32;

// Where the fiber that is running stands. Only valid inside launch().
[[nodiscard]] const Place& here();

void block_barrier();
// Every lane gives eight bytes and gets those of `source`.
[[nodiscard]] std::uint64_t exchange(std::uint64_t mine, unsigned source);
[[nodiscard]] std::uint32_t ballot(bool vote);

void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel);

// So far: kernels, and what is called in place of a library's or the runtime's.
[[nodiscard]] std::size_t launches();
void count_launch();

template <typename T>
[[nodiscard]] T exchanged(T value, unsigned source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t carried = 0;
  std::memcpy(&carried, &value, sizeof value);
  carried = exchange(carried, source);
  std::memcpy(&value, &carried, sizeof value);
  return value;
}

[[nodiscard]] inline unsigned lane() { return here().thread.x % warp_size; }

template <typename T>
T fetch_add(T* target, T value) {
  const T before = *target;
  *target = before + value;
  return before;
}

template <typename T>
T fetch_max(T* target, T value) {
  const T before = *target;
  *target = before < value ? value : before;
  return before;
}

}  // namespace payoff::kernels::emulation

// The words of CUDA C++ that the kernels use.
// NOLINTBEGIN(bugprone-macro-parentheses, bugprone-reserved-identifier)
#define __global__
#define __device__
#define __shared__ static
#define threadIdx (payoff::kernels::emulation::here().thread)
#define blockIdx (payoff::kernels::emulation::here().block)
#define blockDim (payoff::kernels::emulation::here().block_size)
#define gridDim (payoff::kernels::emulation::here().grid_size)
// NOLINTEND(bugprone-macro-parentheses, bugprone-reserved-identifier)

namespace payoff::kernels {

inline void __syncthreads() { emulation::block_barrier(); }

template <typename T>
[[nodiscard]] T __shfl_xor_sync(std::uint32_t /*mask*/, T value, unsigned lanes) {
  return emulation::exchanged(value, emulation::lane() ^ lanes);
}

// The lowest lanes get their own value back.
template <typename T>
[[nodiscard]] T __shfl_up_sync(std::uint32_t /*mask*/, T value, unsigned lanes) {
  const unsigned lane = emulation::lane();
  return emulation::exchanged(value, lane >= lanes ? lane - lanes : lane);
}

[[nodiscard]] inline std::uint32_t __ballot_sync(std::uint32_t /*mask*/, bool vote) {
  return emulation::ballot(vote);
}

template <typename T>
T atomicAdd(T* target, T value) {
  return emulation::fetch_add(target, value);
}
template <typename T>
T atomicMax(T* target, T value) {
  return emulation::fetch_max(target, value);
}

}  // namespace payoff::kernels
