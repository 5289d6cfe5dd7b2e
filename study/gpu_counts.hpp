// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/experiment.hpp"
#include "study/job_axis.hpp"

// The numbers of GPUs at which a curve has points, in scaling steps (study/scaled_job.hpp).

namespace payoff {

// From `low` to `high`, both ends included.
[[nodiscard]] std::vector<double> step_counts(int low, int high);

// Of each plan the last number that it is possible on, where it ends before `xs` do.
[[nodiscard]] std::vector<std::optional<int>> last_counts(const Experiment& experiment,
                                                          const JobAxis& axis,
                                                          const std::vector<double>& xs);

}  // namespace payoff
