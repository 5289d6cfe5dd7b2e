// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/heat_map.hpp"
#include "study/frontier.hpp"

// A break-even frontier as a heat map draws it.

namespace payoff {

// Its lines, with what is said where there is none, for axes in these units. That with the best
// remedy is left out where no value knows one.
[[nodiscard]] std::vector<HeatLine> frontier_lines(const Frontier& frontier, double x_unit,
                                                   double y_unit);
[[nodiscard]] HeatCell frontier_cell(const FrontierValue& value);

[[nodiscard]] std::vector<double> in_unit(std::vector<double> values, double unit);

// The cells fill it: at the ends there is room for the last tick only.
[[nodiscard]] ChartAxis filled_axis(ChartAxis axis, const std::vector<double>& values);

}  // namespace payoff
