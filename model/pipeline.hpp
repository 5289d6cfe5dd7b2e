// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/units.hpp"

// One-forward-one-backward pipelines, plain and interleaved (Narayanan et al. 2021, section 2.2, in
// the order of Megatron-LM's schedules). Exact recurrence over the operations of every stage: an
// operation starts when its stage is free and its input has arrived; transfers take time but do
// not occupy the stage. Interleaving (chunks > 1) needs micro_batches to be a multiple of stages.

namespace payoff {

// Durations of one micro-batch on one stage; a chunk takes an equal share of them.
struct StageDurations {
  Seconds forward{};
  Seconds backward{};
  Seconds send_forward{};   // to the next stage (from the last one: to the first, next chunk)
  Seconds send_backward{};  // to the previous stage
};

struct StageSpan {
  Seconds last_backward_start{};  // of the last operation of the stage
  Seconds end{};
};

[[nodiscard]] std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages,
                                                  int micro_batches, int chunks);

}  // namespace payoff
