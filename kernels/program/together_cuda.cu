// SPDX-License-Identifier: Apache-2.0
// Works beside each other on the GPU. Every queue begins with a kernel that waits for the host, so
// that none has a start over the others; parts are graphs, so that no queue runs dry because the
// host is slow. Nothing here has run on a GPU yet.
#include <memory>
#include <stdexcept>

#include "kernels/device/clock_stamps.cuh"
#include "kernels/device/gate.cuh"
#include "kernels/program/together.hpp"

namespace payoff::kernels {
namespace {

struct Event {
  cudaEvent_t handle{};
  Event() { check(cudaEventCreate(&handle), "cudaEventCreate"); }
  ~Event() { static_cast<void>(cudaEventDestroy(handle)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

class Queue {
 public:
  Queue(const QueuedWork& queued, unsigned parts) : runs_(queued.runs_a_part), ends_(parts) {
    try {
      prepare(queued);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Queue() { release(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void hold(const Gate& gate) const { gate.hold(Stream{stream_}); }
  void fill() {
    for (cudaEvent_t end : ends_) {
      check(cudaGraphLaunch(part_, stream_), "cudaGraphLaunch");
      check(cudaEventRecord(end, stream_), "cudaEventRecord");
    }
  }

  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  [[nodiscard]] Timeline timeline(cudaEvent_t start) const {
    Timeline timeline{{}, static_cast<double>(runs_)};
    for (cudaEvent_t end : ends_) {
      float milliseconds = 0.0F;
      check(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
      timeline.ends.push_back(Seconds{1e-3 * static_cast<double>(milliseconds)});
    }
    return timeline;
  }

 private:
  void prepare(const QueuedWork& queued) {
    int last = 0;
    int first = 0;
    check(cudaDeviceGetStreamPriorityRange(&last, &first), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                       queued.comes_first ? first : last),
          "cudaStreamCreateWithPriority");
    for (cudaEvent_t& end : ends_) {
      check(cudaEventCreate(&end), "cudaEventCreate");
    }
    // Without timing and outside a graph first: what a library sets up, it sets up now.
    queued.work->run(Stream{stream_});
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    capture(*queued.work);
  }
  void release() noexcept {
    if (stream_ != nullptr) {
      static_cast<void>(cudaStreamSynchronize(stream_));
    }
    if (part_ != nullptr) {
      static_cast<void>(cudaGraphExecDestroy(part_));
    }
    for (cudaEvent_t end : ends_) {
      if (end != nullptr) {
        static_cast<void>(cudaEventDestroy(end));
      }
    }
    if (stream_ != nullptr) {
      static_cast<void>(cudaStreamDestroy(stream_));
    }
  }

  void capture(const Work& work) {
    part_ = instantiated(stream_, [&] {
      for (unsigned run = 0; run < runs_; ++run) {
        work.run(Stream{stream_});
      }
    });
    check(cudaGraphUpload(part_, stream_), "cudaGraphUpload");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  unsigned runs_;
  cudaStream_t stream_{};
  cudaGraphExec_t part_{};
  std::vector<cudaEvent_t> ends_;
};

}  // namespace

Together run_together(std::span<const QueuedWork> works, unsigned parts) {
  // Destroyed in the other order: the gate opens, the queues drain, and only then its memory goes,
  // which the kernels that wait read.
  const Gate gate;
  const ClockStamps stamps;
  std::vector<std::unique_ptr<Queue>> queues;
  for (const QueuedWork& work : works) {
    queues.push_back(std::make_unique<Queue>(work, parts));
  }
  const std::unique_ptr<const Gate, void (*)(const Gate*)> opened_at_the_end(
      &gate, [](const Gate* held) { held->open(); });
  gate.rehearse(Stream{queues.front()->stream()});
  stamps.take(Stream{queues.front()->stream()}, 0);  // loads the kernel
  const Event start;
  check(cudaEventRecord(start.handle, queues.front()->stream()), "cudaEventRecord");
  // The clocks are stamped in the first queue, outside the window in which runs are counted: before
  // its first end, and after its last one.
  const Stream first{queues.front()->stream()};
  stamps.clear(first);
  for (const auto& queue : queues) {
    queue->hold(gate);
    if (queue == queues.front()) {
      stamps.take(first, 0);
    }
    queue->fill();
  }
  stamps.take(first, 1);
  gate.open();
  for (const auto& queue : queues) {
    queue->wait();
  }
  Together result;
  for (const auto& queue : queues) {
    result.timelines.push_back(queue->timeline(start.handle));
  }
  if (gate.timed_out()) {
    throw std::runtime_error("the host took too long to queue");
  }
  result.clock_ratio = stamps.ratio();
  return result;
}

}  // namespace payoff::kernels
