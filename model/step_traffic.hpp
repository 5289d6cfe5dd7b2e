// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/evaluate.hpp"
#include "model/step_plan.hpp"

// How many bytes one GPU contributes to the messages of a step (nccl-tests' definition of a
// message's size), by kind.

namespace payoff {

// Of a GPU of the stage, added to what is there.
void add_traffic(const StepPlan& plan, std::size_t stage, StepPrediction& prediction);

}  // namespace payoff
