// SPDX-License-Identifier: Apache-2.0
// One sample on the GPU, all of it queued behind a kernel that waits for the host, so that the
// host's launch times hide: clock stamps, sweep (cold) or a run of the work (hot), event, work,
// event, clock stamp. Nothing here has run on a GPU yet.
#include <algorithm>
#include <chrono>

#include "kernels/device/clock_stamps.cuh"
#include "kernels/device/gate.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/program/machine.hpp"

namespace payoff::kernels {
namespace {

// Reads more than the L2 cache holds. Reading leaves no dirty lines, whose writing back the
// measured work would pay for.
__global__ void sweep(const float4* memory, std::size_t count, float* never) {
  float sum = 0.0F;
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    const float4 values = memory[i];
    sum += values.x + values.y + values.z + values.w;
  }
  if (sum == 0.12345F) {  // keeps the reads; the memory holds zeros
    *never = sum;
  }
}

// Two and a half times the L2 cache, filled once: 125 MB on an H100. It is not in the memory that a
// benchmark counts: it comes out of the 40 % of what was free that a benchmark has to leave.
const DeviceArray<float4>& sweep_memory() {
  static const DeviceArray<float4>* const memory = [] {
    int l2 = 0;
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "cudaDeviceGetAttribute");
    const auto bytes = static_cast<std::size_t>(std::max(l2, 1 << 20)) / 2 * 5;
    auto* array = new DeviceArray<float4>(bytes / sizeof(float4));  // lives as long as the program
    fill_device(array->data(), 0, array->bytes());
    return array;
  }();
  return *memory;
}

}  // namespace

struct Sampler::Inside {
  std::function<void(Stream)> run;
  State state;
  cudaStream_t stream{};
  cudaEvent_t start{};
  cudaEvent_t stop{};
  cudaGraphExec_t graph{};
  Gate gate;
  GateUse gate_use;
  ClockStamps stamps;
  DeviceArray<float> never{1};

  Inside() = default;
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    static_cast<void>(cudaStreamSynchronize(stream));
    if (graph != nullptr) {
      static_cast<void>(cudaGraphExecDestroy(graph));
    }
    for (const cudaEvent_t event : {start, stop}) {
      if (event != nullptr) {
        static_cast<void>(cudaEventDestroy(event));
      }
    }
    if (stream != nullptr) {
      static_cast<void>(cudaStreamDestroy(stream));
    }
  }

  void capture() {
    graph = instantiated(stream, [this] { run(Stream{stream}); });
    check(cudaGraphUpload(graph, stream), "cudaGraphUpload");
  }

  void run_once() const {
    if (graph != nullptr) {
      check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    } else {
      run(Stream{stream});
    }
  }

  void flush() const {
    const DeviceArray<float4>& memory = sweep_memory();
    launch(Stream{stream}, 8 * multiprocessors(), block_threads, sweep, memory.data(),
           memory.count(), never.data());
  }
};

Sampler::Sampler(const Work& work, State state, Mode mode) : inside_(std::make_unique<Inside>()) {
  inside_->run = work.run;
  inside_->state = state;
  check(cudaStreamCreateWithFlags(&inside_->stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaEventCreate(&inside_->start), "cudaEventCreate");
  check(cudaEventCreate(&inside_->stop), "cudaEventCreate");
  // A first run without any timing: whatever a library sets up, it sets up now.
  work.run(Stream{inside_->stream});
  check(cudaStreamSynchronize(inside_->stream), "cudaStreamSynchronize");
  if (mode == Mode::graph) {
    inside_->capture();
  }
  static_cast<void>(sweep_memory());
  inside_->gate.rehearse(Stream{inside_->stream});
  inside_->stamps.take(Stream{inside_->stream}, 0);
  inside_->flush();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Sampler::~Sampler() = default;

Sample Sampler::take() {
  const Inside& in = *inside_;
  const auto begin = std::chrono::steady_clock::now();
  const bool gated = in.gate_use.waits();
  in.gate.close();
  in.stamps.clear(Stream{in.stream});
  if (gated) {
    in.gate.hold(Stream{in.stream});
  }
  in.stamps.take(Stream{in.stream}, 0);
  if (in.state == State::cold) {
    in.flush();
  } else {
    in.run_once();
  }
  check(cudaEventRecord(in.start, in.stream), "cudaEventRecord");
  in.run_once();
  check(cudaEventRecord(in.stop, in.stream), "cudaEventRecord");
  in.stamps.take(Stream{in.stream}, 1);
  in.gate.open();
  check(cudaStreamSynchronize(in.stream), "cudaStreamSynchronize");
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, in.start, in.stop), "cudaEventElapsedTime");
  const bool timed_out = in.gate.timed_out();
  inside_->gate_use.saw(timed_out);
  const std::chrono::duration<double> taking = std::chrono::steady_clock::now() - begin;
  return {Seconds{1e-3 * static_cast<double>(milliseconds)}, in.stamps.ratio(),
          Seconds{taking.count()}, timed_out, gated};
}

}  // namespace payoff::kernels
