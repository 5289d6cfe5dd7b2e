// SPDX-License-Identifier: Apache-2.0
#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"

namespace payoff::sim {

// When everything is decoded: optimizer, weights, host.
bool StageRun::begin_last_tasks() {
  const Stream& gradients = stream(StreamKind::gradients);
  if (decoded_ < reductions() * plan_.buckets(stage_).size() || stream(StreamKind::codec).busy ||
      gradients.busy || gradients.waiting()) {
    return false;
  }
  const StagePlan& stage = plan_.stages[stage_];
  switch (phase_) {
    case Phase::operations:
      phase_ = Phase::tied_sum;
      sum_tied();
      return true;
    case Phase::tied_sum:
      phase_ = Phase::optimizer;
      begin(StreamKind::compute,
            {Task::Role::optimizer, Cause::optimizer, time_for(stage.optimizer), 0, 0, last_path_});
      return true;
    case Phase::optimizer:
      phase_ = Phase::gather;
      gather_updated(stage.gather_weights);
      return true;
    case Phase::gather:
      phase_ = Phase::gather_experts;
      gather_updated(stage.gather_experts);
      return true;
    case Phase::gather_experts:
      phase_ = Phase::host;
      begin(StreamKind::compute,
            {Task::Role::host, Cause::host, time_of(plan_.host), 0, 0, last_path_});
      return true;
    case Phase::host:
      phase_ = Phase::over;
      return false;
    case Phase::over:
      break;
  }
  return false;
}

// The other end of the pipeline comes to the same message.
void StageRun::sum_tied() {
  const Message& sum = plan_.tied_gradients;
  if (plan_.sums_tied(stage_)) {
    hand_over({Task::Role::tied_sum, Cause::dp_message, time_of(sum.alone), 0, 0, last_path_}, sum);
  }
}

void StageRun::gather_updated(const Message& weights) {
  hand_over({Task::Role::gather, Cause::dp_message, time_of(weights.alone), 0, 0, last_path_},
            weights);
}

}  // namespace payoff::sim
