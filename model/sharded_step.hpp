// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/overlap.hpp"
#include "model/step_plan.hpp"

// The whole step of a GPU whose weights are sharded (zero 3, FSDP): every micro-batch gathers each
// unit of weights before it is used and scatters the unit's gradients after it. One communication
// stream, first in first out, as the collectives of one NCCL communicator are:
//
// * The gather of a unit is handed over when the unit before it begins: one is fetched ahead
//   (torch.distributed.fsdp: BackwardPrefetch.BACKWARD_PRE, and limit_all_gathers in forward).
//   Without overlap it is handed over when it is needed.
// * A unit's first piece waits for its weights. Gradients follow the rules of model/overlap.hpp in
//   every micro-batch, since a GPU has no room to add up what it does not keep.
//
// For one pipeline stage. Without: a rate limit on memory, gathers across the end of a pass.

namespace payoff {

// `finish` counts from the start of the step; everything else is of all micro-batches.
[[nodiscard]] OverlapResult sharded_step(const StepPlan& plan);

}  // namespace payoff
