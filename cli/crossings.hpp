// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "cli/chart.hpp"

namespace payoff {

// Where a curve crosses another, whose value at an x is told: on the line between two of its
// points, straight in the logarithms of both. Values are positive.
[[nodiscard]] std::vector<ChartPoint> crossings(const std::vector<ChartPoint>& points,
                                                const std::function<double(double)>& other);

}  // namespace payoff
