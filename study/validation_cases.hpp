// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiles/import/split.hpp"
#include "profiles/import/training_rows.hpp"
#include "study/row_compression.hpp"
#include "study/row_experiment.hpp"
#include "study/validate.hpp"

// The published cases (tests/validation) with what we predict for them: steps without compression,
// and speedups by compression against the run that the source itself compares with. A row that is
// not a measurement of its own kind (no step, no baseline) is no case.

namespace payoff {

struct ValidationOptions {
  std::size_t draws{64};  // of the intervals
  std::uint64_t seed{1};
  unsigned threads{0};  // 0: all of this machine
};

[[nodiscard]] std::vector<ValidationCase> step_cases(const std::vector<TrainingRow>& rows,
                                                     const Split& split,
                                                     const RowCatalogue& catalogue,
                                                     const ValidationOptions& options = {});

[[nodiscard]] std::vector<ValidationCase> compression_cases(const std::vector<TrainingRow>& rows,
                                                            const Split& split,
                                                            const RowCatalogue& catalogue,
                                                            const MethodCatalogue& methods,
                                                            const ValidationOptions& options = {});

// The class of a group by its nodes: two of them are a special case by law.
[[nodiscard]] Band scale_band(int gpus, int nodes);

}  // namespace payoff
