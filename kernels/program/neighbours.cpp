// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "kernels/harness/measure.hpp"

namespace payoff::kernels {
namespace {

// A queue is so long that what slows one member to half its speed still leaves 60 ms in which all
// of them run; a part is short against that, and long against what stamps and graphs cost.
constexpr unsigned parts = 20;
constexpr Seconds part_time = 4_ms;
constexpr Seconds shortest_window = 50_ms;
constexpr double most_launches = 2000.0;  // of a graph

constexpr std::size_t most_runs = 4;  // of the same neighbours, until the device is at rest
constexpr Seconds pause_between = 50_ms;

// Of a run together and of its members alone.
std::vector<double> clocks_of(const MeasuredNeighbours& run) {
  std::vector<double> clocks{run.clock};
  for (const MeasuredNeighbour& member : run.members) {
    clocks.push_back(member.alone_clock);
  }
  return clocks;
}

// Whether each clock was the same in the last three runs.
bool are_steady(const std::vector<MeasuredNeighbours>& runs) {
  constexpr std::size_t steady_runs = 3;
  if (runs.size() < steady_runs) {
    return false;
  }
  std::vector<double> lowest = clocks_of(runs.back());
  std::vector<double> highest = lowest;
  for (std::size_t back = 2; back <= steady_runs; ++back) {
    const std::vector<double> clocks = clocks_of(runs[runs.size() - back]);
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      lowest[i] = std::min(lowest[i], clocks[i]);
      highest[i] = std::max(highest[i], clocks[i]);
    }
  }
  return std::equal(lowest.begin(), lowest.end(), highest.begin(),
                    [](double low, double high) { return low >= (1.0 - steady_spread) * high; });
}

bool has_drifted(Bandwidth before, Bandwidth after) {
  const bool known = before > Bandwidth{} && after > Bandwidth{};
  return known && std::abs(after / before - 1.0) > most_copy_drift;
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

NeighbourMeter::Steady NeighbourMeter::steady(std::span<const QueuedWork> works, unsigned count,
                                              Seconds shortest) const {
  const Together together = instruments_.run(works, count);
  Steady found{steady_state(together.timelines, shortest), together.clock_ratio};
  if (!found.state.refused.empty()) {
    throw std::runtime_error(found.state.refused);
  }
  return found;
}

// Known from other neighbours, unless the device has drifted since. Few runs first, for how many
// make a part.
const NeighbourMeter::Alone& NeighbourMeter::alone(const Neighbour& neighbour, const Work& work,
                                                   Bandwidth copied) {
  const std::string title = title_of(neighbour);
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Alone& each) { return each.title == title; });
  if (known != known_.end()) {
    if (!has_drifted(known->copied, copied)) {
      return *known;
    }
    known_.erase(known);
  }
  const QueuedWork single = queued(neighbour, work, 1);
  const Seconds first = steady({&single, 1}, 4, 0_s).state.times.front();
  const double launches = std::max(1, neighbour.benchmark.point.traffic.launches);
  const double most = std::max(1.0, most_launches / launches);
  const auto runs = static_cast<unsigned>(std::clamp(std::round(part_time / first), 1.0, most));
  const QueuedWork many = queued(neighbour, work, runs);
  const Steady found = steady({&many, 1}, parts, 0_s);
  known_.push_back({title, found.state.times.front(), runs, found.clock, copied});
  return known_.back();
}

MeasuredNeighbours NeighbourMeter::once(const Neighbours& neighbours,
                                        const std::vector<Work>& works) {
  MeasuredNeighbours result;
  result.copied_before = instruments_.copy();
  std::vector<QueuedWork> all;
  Seconds shortest_queue = 1.0_s;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Alone& by_itself = alone(neighbours[i], works[i], result.copied_before);
    all.push_back(queued(neighbours[i], works[i], by_itself.runs_a_part));
    result.members.push_back({neighbours[i], by_itself.time, {}, by_itself.clock});
    shortest_queue = std::min(shortest_queue, parts * by_itself.runs_a_part * by_itself.time);
  }
  // Kernels so short that a graph of them is no part are measured in a shorter window.
  const Seconds shortest = std::min(shortest_window, 0.5 * shortest_queue);
  const Steady found = steady(all, parts, shortest);
  result.window = found.state.window;
  result.clock = found.clock;
  for (std::size_t i = 0; i < works.size(); ++i) {
    result.members[i].together = found.state.times[i];
  }
  result.copied_after = instruments_.copy();
  return result;
}

// Of the runs of the same neighbours so far. Where the clock is as low in each of the last three,
// together and of each member alone, it is what the device has for them, as with a cap on the power
// that a product reaches and a codec does not. It counts until it is surpassed.
bool NeighbourMeter::is_throttled(const std::vector<MeasuredNeighbours>& runs) {
  if (runs.back().clock > (1.0 + steady_spread) * clock_reference_) {
    clock_reference_ = std::min(1.0, runs.back().clock);
  }
  const std::vector<double> clocks = clocks_of(runs.back());
  const double lowest = *std::min_element(clocks.begin(), clocks.end());
  if (lowest >= throttled_ratio * clock_reference_) {
    return false;
  }
  if (lowest <= 0.0 || !are_steady(runs)) {
    return true;
  }
  clock_reference_ = lowest;
  return false;
}

MeasuredNeighbours NeighbourMeter::measure(const Neighbours& neighbours) {
  std::vector<Work> works;
  for (const Neighbour& each : neighbours) {
    works.push_back(each.benchmark.make());
  }
  std::vector<MeasuredNeighbours> runs;
  Seconds rest = pause_between;
  for (std::size_t repeats = 0; repeats < most_runs; ++repeats) {
    runs.push_back(once(neighbours, works));
    MeasuredNeighbours& result = runs.back();
    const bool throttled = is_throttled(runs);
    if (!throttled && !has_drifted(result.copied_before, result.copied_after)) {
      result.clock_reference = clock_reference_;
      result.repeats = repeats;
      return result;
    }
    // What was taken alone meanwhile is of no steady device either.
    std::erase_if(known_, [&](const Alone& each) {
      return std::any_of(neighbours.begin(), neighbours.end(),
                         [&](const Neighbour& member) { return title_of(member) == each.title; });
    });
    if (repeats + 1 < most_runs) {
      instruments_.pause(rest);
      rest = 2.0 * rest;
    }
  }
  throw std::runtime_error("the device was throttled, or drifted, in every one of " +
                           std::to_string(most_runs) + " runs");
}

}  // namespace payoff::kernels
