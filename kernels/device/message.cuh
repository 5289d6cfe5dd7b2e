// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/platform.cuh"

// A kernel that stands for a collective's where there is one GPU only: so many blocks, a channel
// each, that move their parts of a message step by step, at a pace, and keep a multiprocessor to
// themselves as long as they live, while they wait as well.

namespace payoff::kernels {

inline constexpr unsigned message_threads = 1024;
// Loads of a thread in flight. With their addresses they take more than 56 registers, so that 1,024
// threads have all 65,536 of a multiprocessor, as NCCL's blocks nearly have.
inline constexpr unsigned message_depth = 12;
using MessagePack = Pack<float, 4>;
// Of one block in one step.
inline constexpr std::size_t message_packs = std::size_t{message_threads} * message_depth;

// `in` and `out` hold `slots` steps of the whole grid, which are used in turns. No step starts
// before `pace_ns` after the one before it.
__global__ void PAYOFF_BLOCKS_OF(message_threads)
    move_message(const MessagePack* in, MessagePack* out, unsigned slots, unsigned steps,
                 unsigned long long pace_ns) {
  const unsigned long long start = device_nanoseconds();
  const std::size_t slot = static_cast<std::size_t>(gridDim.x) * message_packs;
  const std::size_t own = static_cast<std::size_t>(blockIdx.x) * message_packs + threadIdx.x;
  for (unsigned step = 0; step < steps; ++step) {
    const std::size_t first = (step % slots) * slot + own;
    MessagePack moved[message_depth];
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < message_depth; ++i) {
      moved[i] = in[first + static_cast<std::size_t>(i) * message_threads];
    }
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < message_depth; ++i) {
      out[first + static_cast<std::size_t>(i) * message_threads] = moved[i];
    }
    while (device_nanoseconds() - start < (step + 1) * pace_ns) {
    }
  }
}

}  // namespace payoff::kernels
