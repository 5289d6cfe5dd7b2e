// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "study/advice.hpp"
#include "study/plan_axes.hpp"

namespace payoff {

// What a plan does to gradients alone.
[[nodiscard]] CompressionPlan gradients_of(CompressionPlan plan);

// How much smaller a way makes a kind of traffic, and whether accuracy allows that.
class AdviceBudget {
 public:
  // Both outlive it.
  AdviceBudget(const Experiment& experiment, const PreparedExperiment& job,
               const AccuracyBudget& budget);

  // `planned`: the option's plan.
  void measure(TrafficOption& option, const StepPlan& planned) const;
  [[nodiscard]] bool holds(const TrafficOption& option) const;
  // Of all gradients that a plan compresses together, each of its methods within the budget alone.
  [[nodiscard]] bool holds_gradients(const CompressionPlan& plan, const StepPlan& planned,
                                     const PreparedExperiment& job) const;

 private:
  const Training& training_;
  const Software& software_;
  const AccuracyBudget& budget_;
  MessageSizes sizes_;
  StepPlan dense_;
};

}  // namespace payoff
