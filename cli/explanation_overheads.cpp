// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "cli/explanation_numbers.hpp"
#include "model/units_text.hpp"

// What a step takes around its work: the framework, the latest host, data, checkpoints.

namespace payoff {
namespace {

// Without the terms that come after this one, and without itself.
Seconds step_before(const ExplainedPlan& plan, bool with_data) {
  const Waterfall& w = plan.prediction.waterfall;
  return plan.prediction.step - w.checkpoint - (with_data ? 0_s : w.data_stall);
}

}  // namespace

void host_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  term.numbers = {{"T_host", to_text(plan.step.host), "of a step, hidden by nothing"}};
  term.inserted = seconds_text(plan.step.host);
}

void jitter_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const HostJitter& jitter = plan.experiment().training.host_jitter;
  const int ranks = plan.experiment().layout.ranks();
  constexpr double most_steps = 0.95;
  const double largest = term.time / jitter.mean;
  term.numbers = {
      {"mean", to_text(jitter.mean), "delay of one rank in a step"},
      {"N", number_text(ranks, 12), "ranks, each late by a delay of its own"},
      {"largest", number_text(largest),
       jitter.law == JitterLaw::exponential
           ? "of N over the mean: 1 + 1/2 + ... + 1/N, as delays are exponential"
           : "of N over the mean: sqrt(pi / 2) x integral of 1 - erf(z / sqrt 2)^N, as delays are "
             "half-normal"},
      {"95 %", to_text(maximum_quantile(jitter, ranks, most_steps)),
       "of the steps wait less than this"}};
  term.inserted = fmt::format("{} * {:.10g}", seconds_text(jitter.mean), largest);
}

void data_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const DataLoading& data = plan.experiment().training.data;
  const Seconds step = step_before(plan, false);
  term.numbers = {{"T_data", to_text(data.time), "the input pipeline of a rank, for a step"}};
  if (!data.prefetch) {
    term.inserted = seconds_text(data.time);
    return;
  }
  term.numbers.push_back({"T", to_text(step), "the step without it, beside which it runs"});
  term.inserted = fmt::format("max(0, {} - {})", seconds_text(data.time), seconds_text(step));
}

void checkpoint_numbers(const ExplainedPlan& plan, TermExplanation& term) {
  const CheckpointTimes& times = plan.step.overheads.checkpoint;
  const Checkpointing& asked = plan.experiment().training.checkpoint;
  const auto every = std::to_string(times.every);
  const Seconds step = step_before(plan, true);
  term.numbers = {{"k", every, "steps from one checkpoint to the next"},
                  {"size", to_text(times.write * asked.storage), "weights and optimizer states"},
                  {"W", to_text(times.write), "size over the bandwidth of the storage"}};
  if (!times.asynchronous) {
    term.inserted = fmt::format("{} / {}", seconds_text(times.write), every);
    return;
  }
  term.numbers.push_back(
      {"copy", to_text(times.copy), "of what the fullest GPU holds to its host; nothing computes"});
  term.numbers.push_back({"T", to_text(step), "the step without it, beside which it is written"});
  term.inserted = fmt::format("({} + max(0, {} - {} * {})) / {}", seconds_text(times.copy),
                              seconds_text(times.write), every, seconds_text(step), every);
}

}  // namespace payoff
