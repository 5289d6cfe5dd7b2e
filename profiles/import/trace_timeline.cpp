// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "profiles/import/trace_launches.hpp"

namespace payoff {
namespace {

using import_detail::LaunchPoint;
using import_detail::TraceLaunches;

Seconds seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1_ns; }

struct Window {
  std::string name;
  std::int64_t host{};
  std::int64_t begin{};
  std::int64_t end{};
  bool is_whole{true};
};

// The last step that begins before the time and has not ended; nothing where there is none.
std::optional<std::size_t> step_at(const std::vector<TraceStep>& steps, std::int64_t time) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time,
                       [](std::int64_t t, const TraceStep& step) { return t < step.begin; });
  const bool is_in = after != steps.begin() && time < std::prev(after)->end;
  return is_in ? std::optional(static_cast<std::size_t>(std::prev(after) - steps.begin()))
               : std::nullopt;
}

struct OnGpu {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();

  void take(const GpuEvent& event) {
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end);
  }
  [[nodiscard]] bool empty() const { return begin > end; }
};

std::vector<TraceStep> sorted_steps(const KinetoTrace& trace) {
  std::vector<TraceStep> steps = trace.steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const TraceStep& a, const TraceStep& b) { return a.begin < b.begin; });
  return steps;
}

// One after another without overlap; without a gap where they are those of the GPU.
void follow_each_other(std::vector<Window>& windows, bool without_gaps) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    window.begin = i == 0 ? window.begin : std::max(window.begin, windows[i - 1].begin);
    if (i > 0) {
      Window& before = windows[i - 1];
      before.end = without_gaps ? window.begin : std::min(before.end, window.begin);
    }
    window.end = std::max(window.begin, window.end);
  }
}

// Where each step ran; where no launch is known, the times of the annotations.
std::vector<Window> windows_of(const KinetoTrace& trace, int device,
                               const TraceLaunches& launches) {
  const std::vector<TraceStep> steps = sorted_steps(trace);
  std::vector<OnGpu> on_gpu(steps.size());
  OnGpu all;
  bool any_launch = false;
  for (const GpuEvent& event : trace.gpu_events) {
    if (event.device != device) {
      continue;
    }
    all.take(event);
    const std::optional<LaunchPoint> launch = launches.of(event);
    const auto step = launch ? step_at(steps, launch->time) : std::nullopt;
    if (step) {
      on_gpu[*step].take(event);
      any_launch = true;
    }
  }
  std::vector<Window> windows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t host = steps[i].end - steps[i].begin;
    if (!any_launch) {
      windows.push_back({steps[i].name, host, steps[i].begin, steps[i].end, true});
    } else if (!on_gpu[i].empty()) {
      windows.push_back({steps[i].name, host, on_gpu[i].begin, on_gpu[i].end, true});
    }
  }
  follow_each_other(windows, any_launch);
  if (any_launch) {
    windows.back().is_whole = false;
  }
  if (windows.empty() && !all.empty()) {
    windows.push_back({"trace", all.end - all.begin, all.begin, all.end, false});
  }
  return windows;
}

struct Edge {
  std::int64_t time;
  int communication;  // begun (+1) or ended (-1) here
  int other;
};

std::vector<Edge> edges_of(const KinetoTrace& trace, int device) {
  std::vector<Edge> edges;
  for (const GpuEvent& event : trace.gpu_events) {
    if (event.device == device && event.end > event.begin) {
      const int communication = event.communicates ? 1 : 0;
      edges.push_back({event.begin, communication, 1 - communication});
      edges.push_back({event.end, -communication, communication - 1});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  return edges;
}

// Shares the stretches between edges out to the windows, which do not overlap; both only advance.
class StepSums {
 public:
  explicit StepSums(const std::vector<Window>& windows) : windows_(windows) {
    for (const Window& window : windows) {
      TracedStep& step = steps_.emplace_back();
      step.name = window.name;
      step.host = seconds(window.host);
      step.wall = seconds(window.end - window.begin);
      step.is_whole = window.is_whole;
    }
  }

  void add(std::int64_t begin, std::int64_t end, bool communicates, bool computes) {
    while (first_ < windows_.size() && windows_[first_].end <= begin) {
      ++first_;
    }
    for (std::size_t i = first_; i < windows_.size() && windows_[i].begin < end; ++i) {
      const std::int64_t inside =
          std::min(end, windows_[i].end) - std::max(begin, windows_[i].begin);
      if (inside > 0) {
        share(steps_[i], seconds(inside), communicates, computes);
      }
    }
  }

  std::vector<TracedStep> finish() {
    for (TracedStep& step : steps_) {
      step.idle = std::max(step.wall - step.compute - step.exposed, 0_s);
    }
    return std::move(steps_);
  }

 private:
  static void share(TracedStep& step, Seconds time, bool communicates, bool computes) {
    step.compute += computes ? time : 0_s;
    step.hidden += communicates && computes ? time : 0_s;
    step.exposed += communicates && !computes ? time : 0_s;
  }

  const std::vector<Window>& windows_;
  std::vector<TracedStep> steps_;
  std::size_t first_ = 0;
};

std::vector<TracedStep> steps_of(const KinetoTrace& trace, int device,
                                 const std::vector<Window>& windows) {
  StepSums sums(windows);
  int communicating = 0;
  int others = 0;
  std::int64_t before = 0;
  for (const Edge& edge : edges_of(trace, device)) {
    if (edge.time > before && communicating + others > 0) {
      sums.add(before, edge.time, communicating > 0, others > 0);
    }
    communicating += edge.communication;
    others += edge.other;
    before = edge.time;
  }
  return sums.finish();
}

std::vector<const GpuEvent*> by_stream(const KinetoTrace& trace) {
  std::vector<const GpuEvent*> events;
  events.reserve(trace.gpu_events.size());
  for (const GpuEvent& event : trace.gpu_events) {
    events.push_back(&event);
  }
  std::sort(events.begin(), events.end(), [](const GpuEvent* a, const GpuEvent* b) {
    return std::tie(a->device, a->stream, a->begin, a->end) <
           std::tie(b->device, b->stream, b->begin, b->end);
  });
  return events;
}

void add_to_stream(const GpuEvent& event, std::int64_t end, const TraceLaunches& launches,
                   TracedStream& stream) {
  ++stream.events;
  stream.communications += event.communicates ? 1 : 0;
  stream.busy += seconds(event.end - event.begin);
  if (stream.events == 1) {
    return;
  }
  if (event.begin < end) {
    stream.overlap += seconds(std::min(event.end, end) - event.begin);
    return;
  }
  stream.idle += seconds(event.begin - end);
  const std::optional<LaunchPoint> launch = launches.of(event);
  if (launch && launch->time > end) {
    stream.late += seconds(std::min(launch->time, event.begin) - end);
  }
}

std::vector<TracedStream> streams_of(const KinetoTrace& trace, const TraceLaunches& launches) {
  std::vector<TracedStream> streams;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  for (const GpuEvent* event : by_stream(trace)) {
    if (streams.empty() || streams.back().device != event->device ||
        streams.back().stream != event->stream) {
      streams.push_back({event->device, event->stream, 0, 0, {}, {}, {}, {}, {}});
      begin = event->begin;
      end = event->begin;
    }
    add_to_stream(*event, end, launches, streams.back());
    end = std::max(end, event->end);
    streams.back().span = seconds(end - begin);
  }
  return streams;
}

int busiest_device(const std::vector<TracedStream>& streams, int& devices) {
  std::map<int, Seconds> busy;
  for (const TracedStream& stream : streams) {
    busy[stream.device] += stream.busy;
  }
  devices = static_cast<int>(busy.size());
  const auto busiest = std::max_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return busiest == busy.end() ? 0 : busiest->first;
}

}  // namespace

TraceTimeline timeline_of(const KinetoTrace& trace) {
  const TraceLaunches launches(trace);
  TraceTimeline timeline;
  timeline.streams = streams_of(trace, launches);
  timeline.device = busiest_device(timeline.streams, timeline.devices);
  timeline.has_steps = !trace.steps.empty();
  timeline.steps = steps_of(trace, timeline.device, windows_of(trace, timeline.device, launches));
  return timeline;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0.0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

}  // namespace payoff
