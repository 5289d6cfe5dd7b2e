// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "cli/chart.hpp"

namespace payoff {

// The points before which a curve has passed `level` since the point before. Where between the two
// it did is not known, and not guessed.
[[nodiscard]] std::vector<std::size_t> crossings(const std::vector<ChartPoint>& points,
                                                 double level);

}  // namespace payoff
