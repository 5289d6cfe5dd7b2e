// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_launches.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace payoff::import_detail {

TraceLaunches::TraceLaunches(const KinetoTrace& trace) {
  const auto has_context = [this](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    if (index >= has_operators_.size()) {
      has_operators_.resize(index + 1, false);
    }
    has_operators_[index] = true;
  };
  calls_.reserve(trace.launches.size());
  for (const TraceLaunch& launch : trace.launches) {
    calls_.push_back({launch.correlation, {launch.begin, launch.thread}});
  }
  for (const TraceOperator& each : trace.operators) {
    has_context(each.thread);
    if (each.external >= 0) {
      operators_.push_back({each.external, {each.begin, each.thread}});
    }
  }
  for (const TraceAnnotation& each : trace.annotations) {
    has_context(each.thread);
  }
  const auto earlier = [](const Numbered& a, const Numbered& b) {
    return std::tie(a.number, a.point.time, a.point.thread) <
           std::tie(b.number, b.point.time, b.point.thread);
  };
  std::sort(calls_.begin(), calls_.end(), earlier);
  std::sort(operators_.begin(), operators_.end(), earlier);
}

std::optional<LaunchPoint> TraceLaunches::find(const std::vector<Numbered>& sorted,
                                               std::int64_t number) {
  const auto found = std::lower_bound(
      sorted.begin(), sorted.end(), number,
      [](const Numbered& each, std::int64_t wanted) { return each.number < wanted; });
  return number < 0 || found == sorted.end() || found->number != number
             ? std::nullopt
             : std::optional(found->point);
}

std::optional<LaunchPoint> TraceLaunches::of(const GpuEvent& event) const {
  const std::optional<LaunchPoint> call = find(calls_, event.correlation);
  const auto thread = call ? static_cast<std::size_t>(call->thread) : 0;
  if (call && thread < has_operators_.size() && has_operators_[thread]) {
    return call;
  }
  // Where nothing is linked, Kineto writes the correlation as the external id.
  const bool is_linked = event.external != event.correlation;
  const auto by_operator = is_linked ? find(operators_, event.external) : std::nullopt;
  return by_operator ? by_operator : call;
}

}  // namespace payoff::import_detail
