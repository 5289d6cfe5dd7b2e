// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>

#include "model/units_text.hpp"
#include "sim/step.hpp"
#include "study/engine_parts.hpp"

namespace payoff::engines {
namespace {

// What made messages late, if anything did: of the links and the memories of the GPUs the worst.
std::string contention(const sim::SimulatedStep& step) {
  std::string worst;
  Seconds most;
  for (const sim::LinkUse& link : step.links) {
    if (link.delay > most) {
      most = link.delay;
      worst = link.name;
    }
  }
  for (std::size_t s = 0; s < step.memory_delay.size(); ++s) {
    if (step.memory_delay[s] > most) {
      most = step.memory_delay[s];
      worst = "memory of the GPU of stage " + std::to_string(s);
    }
  }
  return worst.empty() ? worst : "contended: " + worst;
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
