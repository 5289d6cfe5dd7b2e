// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "model/problem.hpp"
#include "model/units.hpp"

// Simulated time: whole picoseconds in 64 bits. Dates compare exactly, so events that belong
// together happen together, and sums do not depend on their order. The range is 106 days; whatever
// goes beyond it becomes `never` or a Problem, and nothing wraps around.

namespace payoff::sim {

// A date since the start of the simulation, or a duration; never negative.
struct SimTime {
  std::int64_t picoseconds{};

  constexpr auto operator<=>(const SimTime&) const = default;
};

inline constexpr SimTime never{std::numeric_limits<std::int64_t>::max()};
inline constexpr SimTime end_of_clock{never.picoseconds - 1};

// `never` where the sum is beyond the clock.
[[nodiscard]] constexpr SimTime operator+(SimTime date, SimTime duration) {
  return duration.picoseconds > never.picoseconds - date.picoseconds
             ? never
             : SimTime{date.picoseconds + duration.picoseconds};
}

// The time from one date to a later one.
[[nodiscard]] constexpr SimTime operator-(SimTime later, SimTime earlier) {
  return {later.picoseconds - earlier.picoseconds};
}

[[nodiscard]] constexpr Seconds to_seconds(SimTime time) {
  return {static_cast<double>(time.picoseconds) / 1e12};
}

// To the nearest picosecond; nothing for what is negative, no number, or beyond the clock.
[[nodiscard]] std::optional<SimTime> to_sim_time(Seconds time);

// What a run says that has come to the end of the clock.
[[nodiscard]] Problem beyond_clock(std::string_view path);

}  // namespace payoff::sim
