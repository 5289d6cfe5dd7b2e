// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "model/units_text.hpp"
#include "sim/step.hpp"
#include "study/engine_parts.hpp"

namespace payoff::engines {
namespace {

// The link that made messages late, if any did.
std::string contention(const sim::SimulatedStep& step) {
  const auto worst = std::max_element(
      step.links.begin(), step.links.end(),
      [](const sim::LinkUse& a, const sim::LinkUse& b) { return a.delay < b.delay; });
  if (worst == step.links.end() || worst->delay <= 0_s) {
    return {};
  }
  return "contended: " + worst->name;
}

}  // namespace

EngineAnswer simulated(const PreparedExperiment& prepared, const CompressionPlan& compression) {
  const Experiment& experiment = prepared.experiment();
  const StepPlan plan = prepared.plan(compression);
  const sim::Platform platform(experiment.cluster, experiment.layout);
  if (const Problems problems = sim::check(plan, platform); !problems.empty()) {
    return no_answer(problems.front().message);
  }
  sim::SimulatedStep step = sim::simulate(plan, platform);
  if (step.problem) {
    return no_answer(step.problem->message);
  }
  step.prediction.memory = prepared.predict(compression).memory;
  return {step.prediction, contention(step)};
}

}  // namespace payoff::engines
