// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step_plan.hpp"
#include "tests/sim/random_plans.hpp"

// The two engines price a plan's parts alike and share no scheduling code: they may differ by
// rounding only, one tick (1 ps) for each activity of the critical path where nothing is slowed.
// With interference events that fall together may swap: 0.1 %.

namespace payoff::test {

struct Comparison {
  double difference{};  // relative, the largest of the step and the terms of its waterfall
  double ticks{};       // of the step
  double allowed_ticks{};
  bool has_terms{};     // of one stage, and they were compared
  double least_term{};  // relative, the smallest term of either waterfall: none is below zero

  // Where nothing is slowed, one tick for each activity; else 0.1 %.
  [[nodiscard]] bool agrees(const Traits& traits) const {
    return difference <= 1e-3 && least_term >= -1e-9 &&
           (traits.interference || ticks <= allowed_ticks);
  }
};

// The step of one plan by events beside that of the other by formulas.
[[nodiscard]] Comparison compare(const StepPlan& simulated_plan, const StepPlan& evaluated_plan);

}  // namespace payoff::test
