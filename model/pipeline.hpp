// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/overlap.hpp"
#include "model/schedule.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"

// Pipelines in any order of model/schedule.hpp. Exact recurrence over the operations of every
// stage: an operation starts when its stage is free and its input has arrived; transfers take time
// but do not occupy the stage. While a send of a stage is in flight it holds compute units of the
// GPU, and work there runs at the rate that they leave; a receive waits on a stage that has nothing
// to run.

namespace payoff {

// Durations of one micro-batch.
struct ChunkDurations {
  Seconds forward{};
  Seconds backward{};  // where it is split, of the gradients of inputs
  // What they consist of; needed where sends hold compute units.
  std::span<const Piece> forward_pieces = {};
  std::span<const Piece> backward_pieces = {};
  Seconds weights = {};  // where it is split, of theirs
  std::span<const Piece> weight_pieces = {};
};

struct StageDurations {
  std::vector<ChunkDurations> chunks;  // as many on every stage
  Seconds send_forward{};              // to the next stage (from the last one: to the first)
  Seconds send_backward{};             // to the previous stage
  Paces beside_send = {};              // of work
};

// A backward operation from the first one of the last micro-batch on, or from the first one that
// waits for such of another stage: what completes gradients, and what runs in between. No forward
// follows.
struct LastBackward {
  Operation operation;
  bool last_micro_batch{};  // and completes gradients
  Seconds arrival{};        // of its input
  Seconds start{};
  Seconds end{};
  Seconds send{};  // how long its output travels; none from the first stage's first chunk
  std::size_t from_stage{StageOperation::none};  // as in StageOperation
  std::size_t from_place{};
};

struct StageSpan {
  std::vector<LastBackward> last;
  Seconds end{};
  Seconds sending_before_last;  // until when what went before the last ones is in flight
  Seconds sending;              // until when anything is
  Seconds slowed_before_last;   // what sends added to work until then,
  Seconds slowed;               // and in all
};

[[nodiscard]] std::vector<StageSpan> run_pipeline(
    const std::vector<StageDurations>& stages, int micro_batches,
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b);

}  // namespace payoff
