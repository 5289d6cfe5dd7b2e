// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "model/step_plan.hpp"

// What the stages of a plan compute, changed: several share what they compute alike.

namespace payoff {

// `change` is made once to each.
template <typename Change>
void change_computes(StepPlan& plan, Change change) {
  std::map<const StageCompute*, std::shared_ptr<const StageCompute>> changed;
  for (StagePlan& stage : plan.stages) {
    auto& mine = changed[stage.compute.get()];
    if (!mine) {
      auto copy = std::make_shared<StageCompute>(*stage.compute);
      change(*copy);
      mine = std::move(copy);
    }
    stage.compute = mine;
  }
}

}  // namespace payoff
