// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step_plan.hpp"

// Every message of a step, of whatever kind.

namespace payoff {

template <class Visit>
void for_each_message(const StepPlan& plan, Visit visit) {
  for (const StagePlan& stage : plan.stages) {
    for (const Message* message : {&stage.send_forward, &stage.send_backward, &stage.gather_weights,
                                   &stage.gather_experts}) {
      visit(*message);
    }
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        visit(piece.message);
      }
    }
  }
  visit(plan.tied_gradients);
  for (const BucketKind& kind : plan.kinds) {
    for (const BucketRound& round : kind.rounds) {
      visit(round.message);
    }
  }
}

}  // namespace payoff
