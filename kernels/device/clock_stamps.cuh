// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/gate.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/harness/clock_ratio.hpp"

// Two stamps of the multiprocessors' clocks in a stream. For the GPU only.

namespace payoff::kernels {

[[nodiscard]] __device__ inline unsigned multiprocessor_id() {
  unsigned id = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Both clocks on the same multiprocessor, because each counts its own cycles. The grid has several
// blocks a multiprocessor, so that one lands on each that has room; the first of those writes.
PAYOFF_KERNEL void stamp_clocks(ClockStamp* stamps, unsigned count) {
  const unsigned own = multiprocessor_id();
  if (threadIdx.x == 0 && own < count && atomicExch(&stamps[own].taken, 1U) == 0U) {
    stamps[own].cycles = clock64();
    stamps[own].time = device_nanoseconds();
  }
}

class ClockStamps {
 public:
  ClockStamps() {
    int kilohertz = 0;
    check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
    expected_hz_ = 1e3 * kilohertz;
  }

  void clear(Stream stream) const {
    check(cudaMemsetAsync(stamps_.data(), 0, stamps_.bytes(), native(stream)), "cudaMemsetAsync");
  }
  // 0 before what is timed, 1 after it.
  void take(Stream stream, std::size_t which) const {
    launch(stream, 4 * multiprocessors(), warp_lanes, stamp_clocks,
           stamps_.data() + which * multiprocessors(), static_cast<unsigned>(multiprocessors()));
  }
  // Once the stream is through.
  [[nodiscard]] double ratio() const {
    const std::vector<ClockStamp> seen = stamps_.read();
    const std::span<const ClockStamp> all(seen);
    return clock_ratio_of(all.first(multiprocessors()), all.last(multiprocessors()), expected_hz_);
  }

 private:
  DeviceArray<ClockStamp> stamps_{2 * multiprocessors()};
  double expected_hz_{};
};

}  // namespace payoff::kernels
