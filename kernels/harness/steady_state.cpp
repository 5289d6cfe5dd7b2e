// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/steady_state.hpp"

#include <algorithm>
#include <limits>

namespace payoff::kernels {
namespace {

// Runs that were through by then: a part goes on evenly between its two ends.
double runs_until(const Timeline& timeline, Seconds time) {
  const auto& ends = timeline.ends;
  const auto next = std::upper_bound(ends.begin(), ends.end(), time);
  const auto through = static_cast<std::size_t>(next - ends.begin());
  if (through == 0 || through == ends.size()) {
    return timeline.runs_a_part * static_cast<double>(through);
  }
  const double part = (time - ends[through - 1]) / (ends[through] - ends[through - 1]);
  return timeline.runs_a_part * (static_cast<double>(through) + part);
}

std::ptrdiff_t parts_inside(const Timeline& timeline, Seconds begin, Seconds end) {
  return std::count_if(timeline.ends.begin(), timeline.ends.end(),
                       [&](Seconds time) { return time > begin && time <= end; });
}

}  // namespace

SteadyState steady_state(std::span<const Timeline> timelines, Seconds shortest) {
  constexpr std::ptrdiff_t fewest_parts = 2;
  Seconds begin{-std::numeric_limits<double>::infinity()};
  Seconds end{std::numeric_limits<double>::infinity()};
  for (const Timeline& timeline : timelines) {
    if (timeline.ends.empty()) {
      return {{}, {}, "a queue ended nothing"};
    }
    begin = std::max(begin, timeline.ends.front());
    end = std::min(end, timeline.ends.back());
  }
  SteadyState state{end - begin, {}, {}};
  if (timelines.empty() || state.window < shortest) {
    state.refused = "all of them ran together for too short a time";
    return state;
  }
  for (const Timeline& timeline : timelines) {
    if (parts_inside(timeline, begin, end) < fewest_parts) {
      state.refused = "one of them hardly ran beside the others";
      return state;
    }
    state.times.push_back(state.window / (runs_until(timeline, end) - runs_until(timeline, begin)));
  }
  return state;
}

}  // namespace payoff::kernels
