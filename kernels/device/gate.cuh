// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "kernels/device/launch.cuh"

// What holds streams until the host has queued everything, so that its launch times hide. For the
// GPU only.

namespace payoff::kernels {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

// Memory that host and device both see.
template <typename T>
struct Pinned {
  T* host = nullptr;
  T* device = nullptr;
  Pinned() {
    check(cudaHostAlloc(&host, sizeof(T), cudaHostAllocMapped), "cudaHostAlloc");
    check(cudaHostGetDevicePointer(&device, host, 0), "cudaHostGetDevicePointer");
    *host = T{};
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { static_cast<void>(cudaFreeHost(host)); }
};

// Waits until the host says so, or, so that nothing can hang, for two seconds; then what was
// measured behind it is worth nothing.
PAYOFF_KERNEL void hold_stream(const volatile unsigned* go, unsigned* timed_out) {
  constexpr unsigned long long longest = 2'000'000'000ULL;
  const unsigned long long start = device_nanoseconds();
  while (*go == 0U) {
    if (device_nanoseconds() - start > longest) {
      *timed_out = 1U;
      return;
    }
  }
}

// What `run` puts into the stream, as a graph. A capture is ended whatever happens: one that is
// left open makes later calls fail that have nothing to do with it.
template <typename Run>
[[nodiscard]] cudaGraphExec_t instantiated(cudaStream_t stream, const Run& run) {
  cudaGraph_t graph{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  try {
    run();
  } catch (...) {
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) {
      static_cast<void>(cudaGraphDestroy(graph));
    }
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t made{};
  const cudaError_t error = cudaGraphInstantiate(&made, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  check(error, "cudaGraphInstantiate");
  return made;
}

class Gate {
 public:
  void close() const {
    *go_.host = 0U;
    *timed_out_.host = 0U;
  }
  void hold(Stream stream) const {
    launch(stream, 1, 1, hold_stream, go_.device, timed_out_.device);
  }
  // Once before the first sample: a kernel that is loaded only when it is first launched would be
  // loaded inside that sample.
  void rehearse(Stream stream) const {
    open();
    hold(stream);
    check(cudaStreamSynchronize(native(stream)), "cudaStreamSynchronize");
    close();
  }
  void open() const { *static_cast<volatile unsigned*>(go_.host) = 1U; }
  [[nodiscard]] bool timed_out() const {
    return *static_cast<volatile unsigned*>(timed_out_.host) != 0U;
  }

 private:
  Pinned<unsigned> go_;
  Pinned<unsigned> timed_out_;
};

}  // namespace payoff::kernels
