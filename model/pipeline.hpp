// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/overlap.hpp"
#include "model/paired_pieces.hpp"
#include "model/pipeline_program.hpp"
#include "model/schedule.hpp"
#include "model/stage_sends.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"

// Pipelines in any order of model/schedule.hpp. Exact recurrence over the operations of every
// stage: an operation starts when its stage is free and its input has arrived; transfers take time
// but do not occupy the stage, and toward each neighbour go one after the other
// (model/stage_sends.hpp). While a send of a stage is in flight it holds compute units of the GPU,
// and work there runs at the rate that they leave; a receive waits on a stage that has nothing to
// run.

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
  Toward toward{};  // where its output goes: nowhere from the first stage's first chunk
  Seconds send{};   // how long it travels there
  std::size_t from_stage{StageOperation::none};  // as in StageOperation
  std::size_t from_place{};
};

struct StageSpan {
  std::vector<LastBackward> last;
  Seconds end{};
  StageSends sends_before_last;  // what went before the last ones
  StageSends sends;              // all
  Seconds slowed_before_last;    // what sends added to work until then,
  Seconds slowed;                // and in all
  PairEffect pairs;              // what sends added to them included
};

// What one operation of a stage left behind it.
struct OperationDates {
  double end{};
  double arrival{};  // of its output where it goes, or `end`
  double slowed{};   // what sends added to work of the stage so far
  PairEffect pairs;  // what operations that ran as one did, so far
};

// `pairs`: of operations that run as one; without, one after the other. `programs`: of runs before.
[[nodiscard]] std::vector<StageSpan> run_pipeline(
    const std::vector<StageDurations>& stages, int micro_batches,
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b, PairTimes* pairs = nullptr,
    PipelinePrograms* programs = nullptr);

// Micro-batches until a long step repeats itself, which is when run_pipeline() has seen enough: a
// few of each stage. It takes more only where two stages or links are equally slow but for a
// little.
[[nodiscard]] int usual_micro_batches(PipelineSchedule schedule, int stages, int chunks,
                                      int micro_batches);

// The recurrence itself, whose time and memory grow with the micro-batches. run_pipeline() stops
// where it repeats itself (model/pipeline_period.cpp). `dates`, if given, get those of every
// operation, by stage.
[[nodiscard]] std::vector<StageSpan> run_every_micro_batch(
    const std::vector<StageDurations>& stages, int micro_batches, PipelineSchedule schedule,
    std::vector<std::vector<OperationDates>>* dates = nullptr, PairTimes* pairs = nullptr,
    PipelinePrograms* programs = nullptr);

}  // namespace payoff
