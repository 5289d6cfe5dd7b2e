// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study/row_compression.hpp"
#include "study/row_experiment.hpp"
#include "study/validation_cases.hpp"

// A published speedup, predicted: the compressed run against the run that its source compares with,
// once for each likely value of what the row leaves open.

namespace payoff {

void predict_speedup(const TrainingRow& row, const RowCatalogue& catalogue, const RowPlan& plan,
                     const ValidationOptions& options, ValidationCase& result);

}  // namespace payoff
