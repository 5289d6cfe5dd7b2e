// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/compare_engines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "model/evaluate.hpp"
#include "sim/step.hpp"

namespace payoff::test {

namespace {

// The engines tell bubble from exposed sends by different means: together they agree.
std::vector<Seconds> terms(const Waterfall& w) {
  return {w.forward,    w.recompute, w.backward,    w.interference, w.encode,
          w.decode,     w.host,      w.bucket_copy, w.exposed_tp,   w.exposed_pp + w.bubble,
          w.exposed_dp, w.optimizer, w.exposed_cp,  w.exposed_ep};
}

Seconds least_of(const Waterfall& w) {
  std::vector<Seconds> all = terms(w);
  all.push_back(w.exposed_pp);
  all.push_back(w.bubble);
  return *std::min_element(all.begin(), all.end());
}

// Else a tick decides which stage the terms are of. Tied ends differ by their optimizers alone.
bool one_stage_ends_last(const sim::SimulatedStep& step) {
  std::vector<Seconds> ends = step.place_ends;
  std::sort(ends.begin(), ends.end());
  return ends.size() == 1 || ends[ends.size() - 2] / ends.back() < 1 - 1e-6;
}

}  // namespace

Comparison compare(const StepPlan& simulated_plan, const StepPlan& evaluated_plan) {
  const sim::SimulatedStep simulated = sim::simulate(simulated_plan, {});
  const StepPrediction evaluated = evaluate(evaluated_plan);
  const StepPrediction& step = simulated.prediction;
  Comparison result;
  result.difference = std::abs(step.step / evaluated.step - 1);
  result.ticks = std::abs(step.step.si - evaluated.step.si) * 1e12;
  result.allowed_ticks = static_cast<double>(simulated.path_activities);
  const std::vector<Seconds> ours = terms(step.waterfall);
  const std::vector<Seconds> theirs = terms(evaluated.waterfall);
  result.least_term =
      std::min(least_of(step.waterfall), least_of(evaluated.waterfall)) / evaluated.step;
  result.has_terms = one_stage_ends_last(simulated);
  for (std::size_t i = 0; i < ours.size() && result.has_terms; ++i) {
    result.difference =
        std::max(result.difference, std::abs((ours[i] - theirs[i]) / evaluated.step));
  }
  return result;
}

}  // namespace payoff::test
