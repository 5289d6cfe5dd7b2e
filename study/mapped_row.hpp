// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "study/row_experiment.hpp"

// A published row with what it most likely left out, and with other values of that. Where too much
// of it is missing, nothing is put in, so that all reasons are said. An alternative that cannot be
// expressed is left out, and the assumption that names it says so.

namespace payoff {

struct MappedRow {
  RowExperiment likely;
  std::vector<Experiment> others;
};

[[nodiscard]] MappedRow map_row(const TrainingRow& row, const RowCatalogue& catalogue);

}  // namespace payoff
