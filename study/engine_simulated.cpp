// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "model/units_text.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
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

EngineAnswer simulated(const PreparedExperiment& prepared, const CompressionPlan& compression,
                       const ClusterState& state) {
  const Experiment& experiment = prepared.experiment();
  const StepPlan plan = prepared.plan(compression);
  const sim::BuiltPlatform built = sim::build_platform(experiment.cluster, state, plan);
  Problems problems = built.problems.empty() ? sim::check(plan, built.platform) : built.problems;
  if (!problems.empty()) {
    return {std::nullopt, problems.front().message, std::move(problems)};
  }
  sim::SimulatedStep step = sim::simulate(plan, built.platform);
  if (step.problem) {
    return {std::nullopt, step.problem->message, {*step.problem}};
  }
  step.prediction.memory = prepared.predict(compression).memory;
  return {step.prediction, contention(step), {}};
}

}  // namespace payoff::engines
