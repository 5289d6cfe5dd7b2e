// SPDX-License-Identifier: Apache-2.0
// One copy, timed by events and by the driver's records at once. Nothing here has run on a GPU yet.
#include <array>
#include <vector>

#include "kernels/device/gate.cuh"
#include "kernels/families/common.cuh"
#include "kernels/program/activity_library.hpp"
#include "kernels/program/timer_check.hpp"

namespace payoff::kernels {
namespace {

constexpr std::size_t timed_runs = 21;
constexpr std::size_t copied = std::size_t{1} << 26U;  // values: beyond any cache

struct TimedCopies {
  cudaStream_t stream{};
  std::array<cudaEvent_t, 2 * timed_runs> events{};

  TimedCopies() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (cudaEvent_t& event : events) {
      check(cudaEventCreate(&event), "cudaEventCreate");
    }
  }
  TimedCopies(const TimedCopies&) = delete;
  TimedCopies& operator=(const TimedCopies&) = delete;
  ~TimedCopies() {
    for (const cudaEvent_t event : events) {
      static_cast<void>(cudaEventDestroy(event));
    }
    static_cast<void>(cudaStreamDestroy(stream));
  }

  [[nodiscard]] std::vector<Seconds> take(const float* in, float* out, std::size_t count) const {
    for (std::size_t run = 0; run < timed_runs; ++run) {
      check(cudaEventRecord(events[2 * run], stream), "cudaEventRecord");
      map<4>(Stream{stream}, in, out, count, Same{});
      check(cudaEventRecord(events[2 * run + 1], stream), "cudaEventRecord");
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::vector<Seconds> times;
    for (std::size_t run = 0; run < timed_runs; ++run) {
      float milliseconds = 0.0F;
      check(cudaEventElapsedTime(&milliseconds, events[2 * run], events[2 * run + 1]),
            "cudaEventElapsedTime");
      times.push_back(Seconds{1e-3 * static_cast<double>(milliseconds)});
    }
    return times;
  }
};

// Less where the memory is small, or others hold most of it.
std::size_t values_to_copy() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  std::size_t count = copied;
  while (count > 1024 && 16 * count > free) {
    count /= 2;
  }
  return count;
}

}  // namespace

TimerCheck check_timer() {
  try {
    const std::size_t count = values_to_copy();
    const auto in = drawn_on_device({count, InputKind::gaussian, 1});
    const auto out = array_of<float>(count);
    const TimedCopies copies;
    static_cast<void>(copies.take(in->data(), out->data(), count));  // whatever is set up, is now
    if (std::string reason = start_records(); !reason.empty()) {
      return not_checked(std::move(reason));
    }
    const std::vector<Seconds> by_events = copies.take(in->data(), out->data(), count);
    TimerCheck found = compared("copy", by_events, take_records());
    found.traffic = bytes_of(8.0 * static_cast<double>(count));
    return found;
  } catch (const std::exception& error) {  // what was measured before is not lost to it
    return not_checked(error.what());
  }
}

}  // namespace payoff::kernels
