// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace payoff::kernels {
namespace {

// A queue is so long that what slows one member to half its speed still leaves 60 ms in which all
// of them run; a part is short against that, and long against what stamps and graphs cost.
constexpr unsigned parts = 20;
constexpr Seconds part_time = 4_ms;
constexpr Seconds shortest_window = 50_ms;
constexpr double most_launches = 2000.0;  // of a graph

SteadyState steady(std::span<const QueuedWork> works, unsigned count, Seconds shortest) {
  const std::vector<Timeline> timelines = run_together(works, count);
  SteadyState state = steady_state(timelines, shortest);
  if (!state.refused.empty()) {
    throw std::runtime_error(state.refused);
  }
  return state;
}

std::string title_of(const Neighbour& neighbour) {
  return neighbour.benchmark.point.kernel + text_of(neighbour.benchmark.point.parameters);
}

}  // namespace

std::string_view name(Role role) {
  switch (role) {
    case Role::compute:
      return "compute";
    case Role::codec:
      return "codec";
    case Role::message:
      return "message";
    default:
      return "copies";
  }
}

std::string title_of(const Neighbours& neighbours) {
  std::string title;
  for (const Neighbour& each : neighbours) {
    title += (title.empty() ? "" : " beside ") + title_of(each);
  }
  return title;
}

QueuedWork queued(const Neighbour& neighbour, const Work& work, unsigned runs_a_part) {
  return {&work, runs_a_part, neighbour.role == Role::message};
}

// Few runs first, for how many make a part.
const NeighbourMeter::Alone& NeighbourMeter::alone(const Neighbour& neighbour, const Work& work) {
  const std::string title = title_of(neighbour);
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Alone& each) { return each.title == title; });
  if (known != known_.end()) {
    return *known;
  }
  const QueuedWork once = queued(neighbour, work, 1);
  const Seconds first = steady({&once, 1}, 4, 0_s).times.front();
  const double launches = std::max(1, neighbour.benchmark.point.traffic.launches);
  const double most = std::max(1.0, most_launches / launches);
  const auto runs = static_cast<unsigned>(std::clamp(std::round(part_time / first), 1.0, most));
  const QueuedWork many = queued(neighbour, work, runs);
  known_.push_back({title, steady({&many, 1}, parts, 0_s).times.front(), runs});
  return known_.back();
}

MeasuredNeighbours NeighbourMeter::measure(const Neighbours& neighbours) {
  std::vector<Work> works;
  for (const Neighbour& each : neighbours) {
    works.push_back(each.benchmark.make());
  }
  MeasuredNeighbours result;
  std::vector<QueuedWork> all;
  Seconds shortest_queue = 1.0_s;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Alone& by_itself = alone(neighbours[i], works[i]);
    all.push_back(queued(neighbours[i], works[i], by_itself.runs_a_part));
    result.members.push_back({neighbours[i], by_itself.time, {}});
    shortest_queue = std::min(shortest_queue, parts * by_itself.runs_a_part * by_itself.time);
  }
  // Kernels so short that a graph of them is no part are measured in a shorter window.
  const Seconds shortest = std::min(shortest_window, 0.5 * shortest_queue);
  const SteadyState state = steady(all, parts, shortest);
  result.window = state.window;
  for (std::size_t i = 0; i < works.size(); ++i) {
    result.members[i].together = state.times[i];
  }
  return result;
}

}  // namespace payoff::kernels
