// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/chart_axis.hpp"
#include "cli/sweep_results.hpp"

// How a column of results is drawn: its label, the unit that its numbers are shown in, its ticks.

namespace payoff {

struct ColumnScale {
  std::string label;  // with the unit
  double unit{1};     // of the picture, in that of the column
};

// For the numbers of these rows.
[[nodiscard]] ColumnScale column_scale(const SweepResults& results, std::size_t column,
                                       const std::vector<std::size_t>& rows);

// From one value to another, in the unit of the picture; both are positive.
[[nodiscard]] ChartAxis column_axis(const SweepResults& results, std::size_t column, double low,
                                    double high);

// In words, without a unit: "exposed dp".
[[nodiscard]] std::string column_words(const SweepResults& results, std::size_t column);

}  // namespace payoff
