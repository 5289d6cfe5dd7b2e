// SPDX-License-Identifier: Apache-2.0
#include "study/advice_budget.hpp"

namespace payoff {

AdviceBudget::AdviceBudget(const Experiment& experiment, const PreparedExperiment& job,
                           const AccuracyBudget& budget)
    : training_(experiment.training),
      budget_(budget),
      sizes_(experiment),
      dense_(job.plan(experiment.plans.front())) {}

void AdviceBudget::measure(TrafficOption& option, const StepPlan& planned) const {
  constexpr double bits_of_a_byte = 8;
  const Precision sent = option.plan.method ? training_.gradient : training_.precision;
  option.ratio = sizes_.wire_ratio(planned, dense_);
  option.bits = bits_of_a_byte * (element_size(sent) / 1_B) / option.ratio;
}

bool AdviceBudget::holds(const TrafficOption& option) const {
  constexpr double rounding = 1e-9;
  return (budget_.most_ratio <= 0 || option.ratio <= (1 + rounding) * budget_.most_ratio) &&
         option.bits >= (1 - rounding) * budget_.least_bits;
}

}  // namespace payoff
