// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/memory.hpp"
#include "model/overlap.hpp"
#include "model/paired_pieces.hpp"
#include "model/pipeline_program.hpp"
#include "model/stage_sends.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"

// The analytical evaluator: recurrences over pieces, buckets, micro-batches and stages. No event
// queue, no allocation in the inner loops, microseconds per plan. docs/model.md, "Step".

namespace payoff {

// Where the time of a step goes. The terms add up to `step`; hidden communication and the codec
// work that overlaps are reported beside it.
struct Waterfall {
  Seconds forward{};
  Seconds recompute{};
  Seconds backward{};
  Seconds interference{};  // compute slowed by communication that runs beside it
  Seconds encode{};        // on the critical path
  Seconds decode{};
  Seconds bucket_copy{};
  Seconds exposed_tp{};
  Seconds exposed_cp{};
  Seconds exposed_ep{};
  Seconds exposed_pp{};
  Seconds exposed_dp{};
  Seconds bubble{};
  Seconds optimizer{};
  Seconds host{};
  Seconds host_jitter{};  // until the latest host has come (model/step_overheads.hpp)
  Seconds data_stall{};   // the next batch is not there yet
  Seconds checkpoint{};   // a step's share

  [[nodiscard]] Seconds total() const {
    return forward + recompute + backward + interference + encode + decode + bucket_copy +
           exposed_tp + exposed_cp + exposed_ep + exposed_pp + exposed_dp + bubble + optimizer +
           host + host_jitter + data_stall + checkpoint;
  }
};

struct StepPrediction {
  Seconds step{};
  Waterfall waterfall;
  Seconds dp_communication{};  // busy time of the gradient stream, hidden part included
  Seconds hidden_dp{};
  Bytes dp_bytes{};  // message bytes one GPU contributes to gradient traffic per step
  Bytes tp_bytes{};
  Bytes cp_bytes{};
  Bytes ep_bytes{};  // of tokens
  Bytes pp_bytes{};
  Memory memory;
};

[[nodiscard]] StepPrediction evaluate(const StepPlan& plan);

// To a step that ends with the host: the terms after that one.
void add_overheads(const StepOverheads& overheads, StepPrediction& prediction);

// When the work of each stage ends, before any gradient: the same for all strategies that leave the
// activations alone, so that it is computed once for all of them.
struct StageEnd {
  Seconds end{};
  Seconds exposed_pp{};  // what transfers between stages added to it
  // From the first operation that completes gradients on, as many on every stage.
  std::vector<StageOperation> last;
  Seconds start{};      // of the first of them
  Seconds last_wait{};  // of all of them, for inputs
  // Without gradients: sends of the stage, those before the first of them and all; and what sends
  // added to work before it, and to them.
  StageSends sends_before{};
  StageSends sends{};
  Seconds slowed_before{};
  Seconds last_slowed{};
  PairEffect pairs{};  // of operations before it that run as one
};

// `programs`: of pipelines that were run before, and will be again with other times.
[[nodiscard]] std::vector<StageEnd> pipeline_ends(const StepPlan& plan,
                                                  PipelinePrograms* programs = nullptr);
[[nodiscard]] StepPrediction evaluate(const StepPlan& plan, const std::vector<StageEnd>& ends);

}  // namespace payoff
