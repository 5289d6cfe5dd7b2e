// SPDX-License-Identifier: Apache-2.0
#include "cli/crossings.hpp"

namespace payoff {

std::vector<std::size_t> crossings(const std::vector<ChartPoint>& points, double level) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if ((points[i - 1].y > level) != (points[i].y > level)) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace payoff
