// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/units.hpp"

// One-forward-one-backward pipelines, plain and interleaved (Narayanan et al. 2021, section 2.2, in
// the order of Megatron-LM's schedules). Exact recurrence over the operations of every stage: an
// operation starts when its stage is free and its input has arrived; transfers take time but do
// not occupy the stage. Interleaving (chunks > 1) needs micro_batches to be a multiple of stages.

namespace payoff {

// Durations of one micro-batch.
struct ChunkDurations {
  Seconds forward{};
  Seconds backward{};
};

struct StageDurations {
  std::vector<ChunkDurations> chunks;  // as many on every stage
  Seconds send_forward{};   // to the next stage (from the last one: to the first, next chunk)
  Seconds send_backward{};  // to the previous stage
};

// A backward operation from the first one of the last micro-batch on: what completes gradients, and
// what runs in between. No forward follows.
struct LastBackward {
  int chunk{};
  bool last_micro_batch{};
  Seconds arrival{};  // of its input
  Seconds start{};
};

struct StageSpan {
  std::vector<LastBackward> last;
  Seconds end{};
};

[[nodiscard]] std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages,
                                                  int micro_batches);

}  // namespace payoff
