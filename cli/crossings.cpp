// SPDX-License-Identifier: Apache-2.0
#include "cli/crossings.hpp"

#include <cmath>
#include <cstddef>

namespace payoff {

std::vector<ChartPoint> crossings(const std::vector<ChartPoint>& points,
                                  const std::function<double(double)>& other) {
  std::vector<ChartPoint> found;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ChartPoint& a = points[i - 1];
    const ChartPoint& b = points[i];
    const double at_a = a.y / other(a.x);
    const double at_b = b.y / other(b.x);
    if (at_a > 0.0 && at_b > 0.0 && (at_a > 1.0) != (at_b > 1.0)) {
      const double share = std::log(at_a) / std::log(at_a / at_b);
      found.push_back({a.x * std::pow(b.x / a.x, share), a.y * std::pow(b.y / a.y, share)});
    }
  }
  return found;
}

}  // namespace payoff
