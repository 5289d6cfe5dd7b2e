// SPDX-License-Identifier: Apache-2.0
#include "study/advice_budget.hpp"

namespace payoff {

namespace {

// Of an element of what the plan compresses, as it is sent without it.
Bytes sent_size(const CompressionPlan& plan, const Training& training, const Software& software) {
  if (plan.weights) {
    return weight_size(training.precision, software.fp8_weights);
  }
  return plan.method ? element_size(training.gradient) : activation_size(training.precision);
}

}  // namespace

AdviceBudget::AdviceBudget(const Experiment& experiment, const PreparedExperiment& job,
                           const AccuracyBudget& budget)
    : training_(experiment.training),
      software_(experiment.software),
      budget_(budget),
      sizes_(experiment),
      dense_(job.plan(experiment.plans.front())) {}

void AdviceBudget::measure(TrafficOption& option, const StepPlan& planned) const {
  constexpr double bits_of_a_byte = 8;
  option.ratio = sizes_.wire_ratio(planned, dense_);
  option.bits =
      bits_of_a_byte * (sent_size(option.plan, training_, software_) / 1_B) / option.ratio;
}

CompressionPlan gradients_of(CompressionPlan plan) {
  plan.activations.clear();
  plan.weights.reset();
  return plan;
}

bool AdviceBudget::holds_gradients(const CompressionPlan& plan, const StepPlan& planned,
                                   const PreparedExperiment& job) const {
  TrafficOption option{gradients_of(plan)};
  const bool is_all = plan.activations.empty() && !plan.weights;
  measure(option, is_all ? planned : job.plan(option.plan));
  return holds(option);
}

bool AdviceBudget::holds(const TrafficOption& option) const {
  constexpr double rounding = 1e-9;
  return (budget_.most_ratio <= 0 || option.ratio <= (1 + rounding) * budget_.most_ratio) &&
         option.bits >= (1 - rounding) * budget_.least_bits;
}

}  // namespace payoff
