// SPDX-License-Identifier: Apache-2.0
#include "study/simulation.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "study/engine_parts.hpp"

namespace payoff {
namespace {

// What made a message late, if anything did: of the links and the memories of the GPUs the one that
// held a single message up most.
std::string contention(const sim::SimulatedStep& step) {
  std::string worst;
  Seconds most;
  for (const sim::LinkUse& link : step.links) {
    if (link.max_delay > most) {
      most = link.max_delay;
      worst = link.name;
    }
  }
  for (std::size_t s = 0; s < step.max_memory_delay.size(); ++s) {
    if (step.max_memory_delay[s] > most) {
      most = step.max_memory_delay[s];
      worst = "memory of the GPU of stage " + std::to_string(s);
    }
  }
  return worst.empty() ? worst : "contended: " + worst;
}

}  // namespace

const sim::BuiltPlatform& Simulation::platform(const StepPlan& step) {
  // What a node's cores stream is the codec's, and programs are those of its messages: another
  // method, another platform.
  const bool own = rules_.steps || std::any_of(step.kinds.begin(), step.kinds.end(), uses_host);
  const auto build = [&] {
    return sim::build_platform(prepared_.experiment().cluster, state_, step, rules_);
  };
  if (own) {
    return own_platform_.emplace(build());
  }
  auto& built = platforms_[sim::exchanging_groups(step).to_ullong()];
  return built ? *built : built.emplace(build());
}

Simulation::Outlook Simulation::outlook(const CompressionPlan& compression) {
  const StepPlan step = prepared_.plan(compression);
  const sim::BuiltPlatform& built = platform(step);
  return {sim::estimate(step, built.platform), built.fold,
          built.problems.empty() ? sim::check(step, built.platform, options_) : built.problems};
}

sim::FoldReport Simulation::fold(const CompressionPlan& compression) {
  return platform(prepared_.plan(compression)).fold;
}

sim::SimulatedStep Simulation::run(const CompressionPlan& compression, sim::TraceWriter* trace) {
  sim::SimOptions options = options_;
  options.trace = trace;
  const StepPlan step = prepared_.plan(compression);
  sim::SimulatedStep result = sim::simulate(step, platform(step).platform, options);
  result.prediction.memory = prepared_.predict(compression).memory;
  return result;
}

EngineAnswer Simulation::answer(const CompressionPlan& compression) {
  Problems problems = outlook(compression).problems;
  if (!problems.empty()) {
    return {std::nullopt, problems.front().message, std::move(problems)};
  }
  const sim::SimulatedStep step = run(compression);
  if (step.problem) {
    return {std::nullopt, step.problem->message, {*step.problem}};
  }
  return {step.prediction, contention(step), {}};
}

sim::Estimate together(const sim::Estimate& all, const sim::Estimate& next) {
  return {all.events + next.events, all.sends + next.sends, std::max(all.memory, next.memory),
          next.trace};
}

namespace engines {

EngineAnswer simulated(const PreparedExperiment& prepared, const CompressionPlan& compression,
                       const ClusterState& state) {
  return Simulation(prepared, state).answer(compression);
}

}  // namespace engines
}  // namespace payoff
