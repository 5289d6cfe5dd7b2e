// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/platform.cuh"
#include "kernels/program/device_memory.hpp"

// Launching kernels, in one way for the GPU and for the emulated grid. A family's source is CUDA
// C++ for nvcc and plain C++ for any other compiler.

namespace payoff::kernels {

#if defined(__CUDACC__)
[[nodiscard]] inline cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}
#endif

// A grid of no blocks is no launch at all: CUDA refuses it.
template <typename... Parameters, typename... Arguments>
void launch(Stream stream, std::size_t blocks, unsigned threads, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  if (blocks == 0) {
    return;
  }
#if defined(__CUDACC__)
  kernel<<<static_cast<unsigned>(blocks), threads, 0, native(stream)>>>(
      static_cast<Parameters>(arguments)...);
  check_last_launch();
#else
  static_cast<void>(stream);
  emulation::launch(static_cast<unsigned>(blocks), threads,
                    [&] { kernel(static_cast<Parameters>(arguments)...); });
#endif
}

// One thread for each of `threads` pieces of work, in whole blocks.
template <typename... Parameters, typename... Arguments>
void launch_threads(Stream stream, std::size_t threads, void (*kernel)(Parameters...),
                    const Arguments&... arguments) {
  launch(stream, divided_up(threads, block_threads), block_threads, kernel, arguments...);
}

// Blocks for kernels whose threads stride over their data: a few for each multiprocessor, not more
// than there is work for.
[[nodiscard]] inline std::size_t striding_blocks(std::size_t values, std::size_t values_a_block) {
  constexpr std::size_t blocks_each = 8;  // 2,048 threads fill a multiprocessor
  const std::size_t wanted = divided_up(values, values_a_block);
  const std::size_t most = blocks_each * multiprocessors();
  return wanted < most ? (wanted > 0 ? wanted : 1) : most;
}

}  // namespace payoff::kernels
