// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/compute_fit.hpp"
#include "profiles/import/split.hpp"
#include "profiles/import/training_rows.hpp"
#include "profiles/library.hpp"
#include "study/row_experiment.hpp"

// From the published training rows to profiles/fitted/compute.yaml: the uncompressed rows of the
// fit half that can be expressed become the cases of the fit.

namespace payoff {

// What the guesses of a row add to the spread of its step, in logarithms.
[[nodiscard]] double assumption_sd(const std::vector<std::string>& assumptions);

// A row that is not a case, and why.
struct LeftOut {
  std::string row;
  std::vector<std::string> reasons;
};

struct ComputeCases {
  std::vector<ComputeCase> cases;
  std::vector<LeftOut> left_out;
};

[[nodiscard]] ComputeCases compute_cases(const std::vector<TrainingRow>& rows, const Split& split,
                                         const RowCatalogue& catalogue);

struct ComputeCalibration {
  ComputeFit fit;
  ComputeCases cases;
  std::string profile;  // the text of fitted/compute.yaml
};

// `validation` is the folder tests/validation. Throws std::runtime_error with every finding when
// its split or a shipped profile cannot be used, or none of its rows.
[[nodiscard]] ComputeCalibration calibrate_compute(const Library& library,
                                                   const std::filesystem::path& validation);

}  // namespace payoff
