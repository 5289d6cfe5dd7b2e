// SPDX-License-Identifier: Apache-2.0
#include "calibrate/between_hosts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace payoff {
// A table, and beyond it the expansion of Abramowitz and Stegun 26.7.5, there good to 1e-4.
double student_quantile_95(std::size_t freedom) {
  constexpr std::array<double, 12> table{6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432,
                                         1.8946, 1.8595, 1.8331, 1.8125, 1.7959, 1.7823};
  if (freedom <= table.size()) {
    return table.at(std::max<std::size_t>(freedom, 1) - 1);
  }
  const auto n = static_cast<double>(freedom);
  constexpr double x = normal_quantile_95;
  return x + (x * x * x + x) / (4 * n) +
         (5 * std::pow(x, 5) + 16 * x * x * x + 3 * x) / (96 * n * n);
}

BetweenHosts between_hosts(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) {
    mean += std::log(value) / n;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (std::log(value) - mean) * (std::log(value) - mean);
  }
  const double sd = std::sqrt(squares / (n - 1) * (1 + 1 / n));
  return {std::sqrt(values[(values.size() - 1) / 2] * values[values.size() / 2]),
          sd * student_quantile_95(values.size() - 1) / normal_quantile_95};
}

}  // namespace payoff
