// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/clock_ratio.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/harness/statistics.hpp"

namespace payoff::kernels {

double clock_ratio_of(std::span<const ClockStamp> before, std::span<const ClockStamp> after,
                      double expected_hz) {
  constexpr unsigned long long shortest = 20'000;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].taken != 0 && after[i].taken != 0 && after[i].time >= before[i].time + shortest &&
        expected_hz > 0.0) {
      const auto cycles = static_cast<double>(after[i].cycles - before[i].cycles);
      const auto nanoseconds = static_cast<double>(after[i].time - before[i].time);
      ratios.push_back(cycles / (1e-9 * nanoseconds) / expected_hz);
    }
  }
  return ratios.empty() ? 1.0 : upper_median(std::move(ratios));
}

}  // namespace payoff::kernels
