// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "study/row_experiment.hpp"

// The GPU of a source that does not name it, as its runs on one GPU tell. Such a run sends nothing:
// its step says how fast the GPU computes, and nothing of the links. The profile that comes nearest
// to all of them stands in, with peaks and memory faster or slower by one factor, so that the runs
// of a row's software, model and precision take as long as measured. What these runs have in common
// with a prediction is its input, so they are no cases, and a row whose GPU is told so has one
// major field filled in (study/row_prior.hpp). The links inside a node stay the row's own to state.

namespace payoff {

// Adds what runs on one GPU tell to `catalogue`: its `unstated`, and their profiles to `gpus`.
void tell_unstated_gpus(const std::vector<TrainingRow>& rows, RowCatalogue& catalogue);

// What the runs most like this row tell of its GPU: of its source and precision; of its software
// and model where there are such. nullptr where the row names its GPU, or no run tells.
[[nodiscard]] const UnstatedGpu* unstated_gpu(const TrainingRow& row,
                                              const RowCatalogue& catalogue);

}  // namespace payoff
