// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// The axes of a chart: what they span, and where a reader wants numbers on them.

namespace payoff {

struct ChartAxis {
  double low{};
  double high{};
  bool logarithmic{};
  std::vector<double> ticks;          // ascending, within the span
  double unit{1};                     // ticks are written in so many of it: 1e-3 for seconds in ms
  std::vector<std::string> labels{};  // of the ticks, instead of numbers; may be empty
};

// Spans `low` to `high` (both positive) with round ticks: linear where they differ by less than
// half, so that 0.95 and 1.05 can be told apart, else logarithmic.
[[nodiscard]] ChartAxis value_axis(double low, double high, double unit = 1.0);

// From zero to `high` (positive) with round ticks; linear. Ticks are round in `unit`.
[[nodiscard]] ChartAxis axis_from_zero(double high, double unit = 1.0);

// From the first of the values to the last, which both have a tick; in between those of `ticks`
// that do not touch them or one another. Logarithmic, with a little room at the ends for what is
// drawn there.
[[nodiscard]] ChartAxis span_axis(double low, double high, const std::vector<double>& ticks);

// As it is written below its tick: 1048576, 0.25.
[[nodiscard]] std::string tick_text(double tick);

// Where a value lies: 0 at the low end, 1 at the high one.
[[nodiscard]] double share_of(const ChartAxis& axis, double value);

// Of one of its ticks.
[[nodiscard]] std::string axis_label(const ChartAxis& axis, std::size_t tick);
// With labels that do not touch where the axis has so many columns of characters; the ends keep
// theirs. Their ticks go with the others.
[[nodiscard]] ChartAxis with_room_between(const ChartAxis& axis, double columns);

// 4, 8, 16, ...: `low` doubled while below `high`.
[[nodiscard]] std::vector<double> doublings(double low, double high);
// What NICs are sold with, and rates to compare with, from `low` to `high` in Gb/s.
[[nodiscard]] std::vector<double> usual_rates(double low, double high);
// 1, 2, 5, 10, ... from `low` to `high`.
[[nodiscard]] std::vector<double> round_numbers(double low, double high);

}  // namespace payoff
