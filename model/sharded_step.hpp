// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/overlap.hpp"
#include "model/step_plan.hpp"

// The whole step of GPUs whose weights are sharded (zero 3, FSDP): every operation gathers each
// unit of weights before it is used and scatters the unit's gradients after it. One communication
// stream a GPU, first in first out, as the collectives of one NCCL communicator are:
//
// * The gather of a unit is handed over when the unit before it begins: one is fetched ahead
//   (torch.distributed.fsdp: BackwardPrefetch.BACKWARD_PRE, and limit_all_gathers in forward). The
//   first one of an operation when that begins, its input there. Without overlap a gather is handed
//   over when it is needed.
// * A unit's first piece waits for its weights. Gradients follow the rules of model/overlap.hpp in
//   every micro-batch, since a GPU has no room to add up what it does not keep.
// * In a pipeline stages run in the order of model/schedule.hpp, each operation when its stage is
//   free and its input has come. A pipeline that keeps its weights (StepPlan::gathers_once) gathers
//   in the first micro-batch only and reduces in the last one, as torch.distributed.pipelining has
//   FSDP do.
//
// Without: a rate limit on memory, gathers across the end of an operation.

namespace payoff {

struct ShardedStage {
  OverlapResult result;  // `finish` counts from the start of the step; else of all micro-batches
  Seconds sending{};     // until when a send of the stage is in flight
};

[[nodiscard]] std::vector<ShardedStage> sharded_step(const StepPlan& plan);

}  // namespace payoff
