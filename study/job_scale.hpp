// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/experiment.hpp"

// Axes of maps of jobs: GPUs, bandwidth, size of the model.

namespace payoff {

// The job at a value of it (nullopt where there is none), and the nearest value that a
// job has (GPUs and models come in steps). Values are positive and equally spaced in the logarithm,
// or nearly.
struct JobScale {
  std::vector<double> values;  // ascending, at least two
  std::function<std::optional<Experiment>(const Experiment&, double)> job;
  std::function<double(double)> nearest;
};

// GPUs: whole replicas on whole nodes, from the fewest to the most, at most `count` of them.
[[nodiscard]] JobScale gpu_scale(const Experiment& experiment, int fewest, int most, int count);
// Line rate of a NIC in SI.
[[nodiscard]] JobScale bandwidth_scale(Bandwidth lowest, Bandwidth highest, int count);
// Parameters of the model (study/scaled_model.hpp).
[[nodiscard]] JobScale size_scale(const Experiment& experiment, double fewest, double most,
                                  int count);

}  // namespace payoff
