// SPDX-License-Identifier: Apache-2.0
// Works beside each other on the GPU. Every queue begins with a kernel that waits for the host, so
// that none has a start over the others; parts are graphs, so that no queue runs dry because the
// host is slow. Nothing here has run on a GPU yet.
#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/device/gate.cuh"
#include "kernels/program/together.hpp"

namespace payoff::kernels {
namespace {

class Queue {
 public:
  Queue(const QueuedWork& queued, unsigned parts) : runs_(queued.runs_a_part), ends_(parts) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (cudaEvent_t& end : ends_) {
      check(cudaEventCreate(&end), "cudaEventCreate");
    }
    // Without timing and outside a graph first: what a library sets up, it sets up now.
    queued.work->run(Stream{stream_});
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    capture(*queued.work);
  }
  ~Queue() {
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaGraphExecDestroy(part_));
    for (cudaEvent_t end : ends_) {
      static_cast<void>(cudaEventDestroy(end));
    }
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void fill(const Gate& gate) {
    gate.hold(Stream{stream_});
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
  void capture(const Work& work) {
    cudaGraph_t graph{};
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    for (unsigned run = 0; run < runs_; ++run) {
      work.run(Stream{stream_});
    }
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    const cudaError_t made = cudaGraphInstantiate(&part_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check(made, "cudaGraphInstantiate");
    check(cudaGraphUpload(part_, stream_), "cudaGraphUpload");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  unsigned runs_;
  cudaStream_t stream_{};
  cudaGraphExec_t part_{};
  std::vector<cudaEvent_t> ends_;
};

}  // namespace

std::vector<Timeline> run_together(std::span<const QueuedWork> works, unsigned parts) {
  std::vector<std::unique_ptr<Queue>> queues;
  for (const QueuedWork& work : works) {
    queues.push_back(std::make_unique<Queue>(work, parts));
  }
  const Gate gate;
  gate.rehearse(Stream{queues.front()->stream()});
  cudaEvent_t start{};
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventRecord(start, queues.front()->stream()), "cudaEventRecord");
  for (const auto& queue : queues) {
    queue->fill(gate);
  }
  gate.open();
  for (const auto& queue : queues) {
    queue->wait();
  }
  std::vector<Timeline> timelines;
  for (const auto& queue : queues) {
    timelines.push_back(queue->timeline(start));
  }
  check(cudaEventDestroy(start), "cudaEventDestroy");
  if (gate.timed_out()) {
    throw std::runtime_error("the host took too long to queue");
  }
  return timelines;
}

}  // namespace payoff::kernels
