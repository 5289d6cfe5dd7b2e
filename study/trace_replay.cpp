// SPDX-License-Identifier: Apache-2.0
#include "study/trace_replay.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace payoff {
namespace {

std::string lane_name(const ChakraNode& node) {
  const TraceWork work = work_of(node);
  if (work == TraceWork::host) {
    return fmt::format("host {}", node.thread.value_or(0));
  }
  if (node.stream) {
    return fmt::format("stream {}", *node.stream);
  }
  if (work != TraceWork::communication) {
    return std::string(name(work));
  }
  return fmt::format("{} {}", name(node.type), node.group);
}

std::vector<std::size_t> lanes_of(const ChakraTrace& trace) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> lanes;
  lanes.reserve(trace.nodes.size());
  for (const ChakraNode& node : trace.nodes) {
    lanes.push_back(numbers.emplace(lane_name(node), numbers.size()).first->second);
  }
  return lanes;
}

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// The recurrence: nodes are placed one after another, each behind all that it waits for.
class Recurrence {
 public:
  Recurrence(const ChakraTrace& trace, const std::vector<Seconds>& durations)
      : trace_(trace), durations_(durations), lanes_(lanes_of(trace)) {
    begin_.resize(trace.nodes.size());
    because_.assign(trace.nodes.size(), nobody);
    chain_.resize(trace.nodes.size());
    free_.assign(trace.nodes.size(), {0_s, nobody});  // no more lanes than nodes
  }

  void in_order_of_starts() {
    for (const std::size_t node : trace_.order) {
      place(node, ready_at(node));
    }
  }

  // What becomes ready later is placed later, so that no lane is taken ahead of its time.
  void in_order_of_readiness() {
    const std::size_t count = trace_.nodes.size();
    std::vector<std::size_t> left(count);
    std::vector<std::vector<std::size_t>> followers(count);
    using Next = std::pair<double, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i) {
      left[i] = trace_.nodes[i].waits.size();
      for (const std::size_t on : trace_.nodes[i].waits) {
        followers[on].push_back(i);
      }
      if (left[i] == 0) {
        ready.emplace(0.0, i);
      }
    }
    while (!ready.empty()) {
      const std::size_t at = ready.top().second;
      ready.pop();
      place(at, ready_at(at));
      for (const std::size_t next : followers[at]) {
        if (--left[next] == 0) {
          ready.emplace(ready_at(next).first.si, next);
        }
      }
    }
  }

  TraceReplay finish();

 private:
  using At = std::pair<Seconds, std::size_t>;  // when, and because of whom

  [[nodiscard]] Seconds end(std::size_t node) const { return begin_[node] + durations_[node]; }

  [[nodiscard]] At ready_at(std::size_t node) const {
    At latest{0_s, nobody};
    for (const std::size_t on : trace_.nodes[node].waits) {
      if (latest.second == nobody || end(on) > latest.first) {
        latest = {end(on), on};
      }
    }
    return latest;
  }

  void place(std::size_t node, const At& ready) {
    At& lane = free_[lanes_[node]];
    const At& later = lane.second != nobody && lane.first > ready.first ? lane : ready;
    begin_[node] = later.first;
    because_[node] = later.second;
    lane = {end(node), node};
    Seconds before{};
    for (const std::size_t on : trace_.nodes[node].waits) {
      before = std::max(before, chain_[on]);
    }
    chain_[node] = before + durations_[node];
  }

  const ChakraTrace& trace_;
  const std::vector<Seconds>& durations_;
  std::vector<std::size_t> lanes_;
  std::vector<Seconds> begin_;
  std::vector<std::size_t> because_;
  std::vector<Seconds> chain_;
  std::vector<At> free_;
};

struct Edge {
  double time;
  int communication;  // begun (+1) or ended (-1) here
  int computation;
};

TraceTimes times_of(const ChakraTrace& trace, const std::vector<Seconds>& begin,
                    const std::vector<Seconds>& durations) {
  std::vector<Edge> edges;
  double first = begin.empty() ? 0.0 : begin.front().si;
  double last = first;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const TraceWork work = work_of(trace.nodes[i]);
    const double from = begin[i].si;
    const double to = (begin[i] + durations[i]).si;
    first = std::min(first, from);
    last = std::max(last, to);
    if (work != TraceWork::host && to > from) {
      const int communication = work == TraceWork::communication ? 1 : 0;
      edges.push_back({from, communication, 1 - communication});
      edges.push_back({to, -communication, communication - 1});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time < b.time; });
  TraceTimes times;
  int communicating = 0;
  int computing = 0;
  double before = first;
  for (const Edge& edge : edges) {
    const Seconds span{edge.time - before};
    times.compute += computing > 0 ? span : 0_s;
    times.hidden += communicating > 0 && computing > 0 ? span : 0_s;
    times.exposed += communicating > 0 && computing == 0 ? span : 0_s;
    communicating += edge.communication;
    computing += edge.computation;
    before = edge.time;
  }
  times.wall = Seconds{last - first};
  times.idle = std::max(times.wall - times.compute - times.exposed, 0_s);
  return times;
}

TraceReplay Recurrence::finish() {
  TraceReplay result;
  result.times = times_of(trace_, begin_, durations_);
  std::size_t last = nobody;
  for (std::size_t i = 0; i < begin_.size(); ++i) {
    result.chain = std::max(result.chain, chain_[i]);
    last = last == nobody || end(i) > end(last) ? i : last;
  }
  for (std::size_t at = last; at != nobody; at = because_[at]) {
    result.path.push_back(at);
    result.path_time.at(static_cast<std::size_t>(work_of(trace_.nodes[at]))) += durations_[at];
  }
  std::reverse(result.path.begin(), result.path.end());
  result.begin = std::move(begin_);
  return result;
}

}  // namespace

std::string_view name(TraceWork work) {
  switch (work) {
    case TraceWork::host:
      return "host";
    case TraceWork::compute:
      return "compute";
    case TraceWork::memory:
      return "memory";
    case TraceWork::communication:
      break;
  }
  return "communication";
}

TraceWork work_of(const ChakraNode& node) {
  if (node.communicates()) {
    return TraceWork::communication;
  }
  if (node.on_host || node.type == ChakraNodeType::metadata) {
    return TraceWork::host;
  }
  return node.type == ChakraNodeType::compute ? TraceWork::compute : TraceWork::memory;
}

TraceReplay replay(const ChakraTrace& trace, const std::vector<Seconds>& durations) {
  Recurrence recurrence(trace, durations);
  if (tells_starts(trace)) {
    recurrence.in_order_of_starts();
  } else {
    recurrence.in_order_of_readiness();
  }
  return recurrence.finish();
}

std::vector<Seconds> told_durations(const ChakraTrace& trace) {
  std::vector<Seconds> durations;
  durations.reserve(trace.nodes.size());
  for (const ChakraNode& node : trace.nodes) {
    durations.push_back(static_cast<double>(node.duration_us) * 1_us);
  }
  return durations;
}

bool tells_starts(const ChakraTrace& trace) {
  return std::any_of(trace.nodes.begin(), trace.nodes.end(),
                     [](const ChakraNode& node) { return node.start_us > 0; });
}

TraceTimes told_times(const ChakraTrace& trace) {
  std::vector<Seconds> begin;
  begin.reserve(trace.nodes.size());
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const ChakraNode& node : trace.nodes) {
    first = node.start_us > 0 ? std::min(first, node.start_us) : first;
  }
  std::vector<Seconds> durations = told_durations(trace);
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const std::uint64_t start = trace.nodes[i].start_us;
    const bool is_told = start > 0;
    begin.push_back(is_told ? static_cast<double>(start - first) * 1_us : 0_s);
    durations[i] = is_told ? durations[i] : 0_s;
  }
  return times_of(trace, begin, durations);
}

}  // namespace payoff
