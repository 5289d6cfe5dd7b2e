// SPDX-License-Identifier: Apache-2.0
#include "study/gpu_counts.hpp"

#include <cmath>

#include "study/scaled_job.hpp"

namespace payoff {

std::vector<double> step_counts(int low, int high) {
  // Up to here every step of the axis is a point, beyond this four points an octave.
  constexpr int most_steps = 32;
  std::vector<double> xs;
  for (int x = low; x <= high && high - low < most_steps; ++x) {
    xs.push_back(x);
  }
  if (xs.empty() && low <= high) {
    for (double x = low; x < high; x *= std::exp2(0.25)) {
      xs.push_back(std::round(x));
    }
    xs.push_back(high);
  }
  return xs;
}

std::vector<std::optional<int>> last_counts(const Experiment& experiment, const JobAxis& axis,
                                            const std::vector<double>& xs) {
  const std::vector<int> counts(xs.begin(), xs.end());
  std::vector<std::optional<int>> ends;
  for (std::size_t plan = 0; plan < experiment.plans.size(); ++plan) {
    const LastPossible last =
        counts.empty() ? LastPossible{}
                       : last_possible([&](int x) { return axis.is_possible(plan, x); }, counts);
    const bool within = last.ends && last.count >= counts.front();
    ends.push_back(within ? std::optional(last.count) : std::nullopt);
  }
  return ends;
}

}  // namespace payoff
