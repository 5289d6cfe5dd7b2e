// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "study/validation_cases.hpp"

// Parts of validation_cases: what a case says of the job that predicts it.

namespace payoff {

[[nodiscard]] Band parameters_band(const PreparedExperiment& prepared);
// Those above zero.
[[nodiscard]] std::vector<std::pair<std::string, double>> terms_of(const Waterfall& w);
[[nodiscard]] CaseSubject subject_of(const Experiment& experiment, const CompressionPlan& plan);

}  // namespace payoff
