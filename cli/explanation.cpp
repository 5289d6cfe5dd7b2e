// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/explanation_terms.hpp"

namespace payoff {
namespace {

bool updates_in_backward(const StepPlan& plan, std::size_t stage) {
  const std::vector<Bucket>& buckets = plan.buckets(stage);
  return !buckets.empty() && plan.kind(buckets.front()).decode.update > 0_s;
}

// The stage whose work the waterfall tells: the one that ends last.
std::size_t last_stage(const StepPlan& plan, const StepPrediction& prediction) {
  const double micro_batches = plan.layout.passes();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    if (micro_batches * stage.compute->forward_work == prediction.waterfall.forward &&
        micro_batches * stage.compute->backward_work == prediction.waterfall.backward &&
        (stage.optimizer.alone == prediction.waterfall.optimizer || updates_in_backward(plan, s))) {
      return s;
    }
  }
  return 0;
}

// Also where it turns out to take nothing.
bool is_stated(const TermRule& rule, const Training& training) {
  return (rule.time == &Waterfall::host_jitter && training.host_jitter.mean > 0_s) ||
         (rule.time == &Waterfall::data_stall && training.data.time > 0_s) ||
         (rule.time == &Waterfall::checkpoint && training.checkpoint.every > 0);
}

// Numbers of other plans were not put in.
bool was_used(const Fact& fact, const TermRule& rule, const ExplainedPlan& plan) {
  const auto begins = [&](std::string_view start) { return fact.path.starts_with(start); };
  return std::any_of(rule.facts.begin(), rule.facts.end(), begins) &&
         !fact.path.ends_with(".quality") &&  // of the model, not of the time
         (!begins("compress.") || begins("compress." + plan.compression.label + "."));
}

}  // namespace

std::vector<TermExplanation> explain(const PreparedExperiment& prepared,
                                     const CompressionPlan& compression, const Facts& facts) {
  StepPlan step = prepared.plan(compression);
  StepPrediction prediction = prepared.predict(compression);
  const std::size_t stage = last_stage(step, prediction);
  const ExplainedPlan plan{prepared, compression, step, prediction, step.stages[stage], stage};
  const Waterfall baseline = prepared.predict(prepared.experiment().plans.front()).waterfall;
  const Trust trust = trust_in(prepared, facts);
  std::vector<TermExplanation> terms;
  for (const TermRule& rule : term_rules()) {
    if (rule.where_stated && !is_stated(rule, prepared.experiment().training)) {
      continue;
    }
    TermExplanation& term = terms.emplace_back();
    term.term = rule.term;
    term.what = rule.what;
    term.time = plan.prediction.waterfall.*rule.time;
    term.uncompressed = baseline.*rule.time;
    term.equation = rule.equation;
    term.section = rule.section;
    if (!rule.messages.empty()) {
      term.part_equation =
          "launch + steps_i a_i + steps_o a_o + S max6(w_i, w_o) + fill_i + fill_o";
      term.part_section = "8.2 Price";
    }
    rule.fill(plan, term);
    std::copy_if(trust.read.begin(), trust.read.end(), std::back_inserter(term.facts),
                 [&](const Fact& fact) { return was_used(fact, rule, plan); });
    std::copy_if(trust.messages.begin(), trust.messages.end(), std::back_inserter(term.messages),
                 [&](const MessageUse& use) {
                   return use.plan == compression.label &&
                          std::find(rule.messages.begin(), rule.messages.end(), use.kind) !=
                              rule.messages.end();
                 });
    std::copy_if(trust.kernels.begin(), trust.kernels.end(), std::back_inserter(term.kernels),
                 [&](const KernelUse& use) {
                   return (use.plan.empty() || use.plan == compression.label) &&
                          rule.work == use.work;
                 });
  }
  return terms;
}

}  // namespace payoff
