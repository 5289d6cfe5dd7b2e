// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/answer_laws.hpp"

#include <cmath>
#include <string>

#include "study/payoff.hpp"
#include "study/simulation.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

constexpr std::uint64_t most_events = 100'000;

void sound(const char* what, double value) {
  if (!std::isfinite(value) || value < 0.0) {
    broken(std::string(what) + " is finite and not negative: " + std::to_string(value));
  }
}

void sound(const Waterfall& w) {
  sound("forward", w.forward.si);
  sound("recompute", w.recompute.si);
  sound("backward", w.backward.si);
  sound("interference", w.interference.si);
  sound("encode", w.encode.si);
  sound("decode", w.decode.si);
  sound("bucket_copy", w.bucket_copy.si);
  sound("exposed_tp", w.exposed_tp.si);
  sound("exposed_cp", w.exposed_cp.si);
  sound("exposed_ep", w.exposed_ep.si);
  sound("exposed_pp", w.exposed_pp.si);
  sound("exposed_dp", w.exposed_dp.si);
  sound("bubble", w.bubble.si);
  sound("optimizer", w.optimizer.si);
  sound("host", w.host.si);
  sound("host_jitter", w.host_jitter.si);
  sound("data_stall", w.data_stall.si);
  sound("checkpoint", w.checkpoint.si);
}

std::string sound(const StepPrediction& p) {
  sound("step", p.step.si);
  sound(p.waterfall);
  sound("dp_communication", p.dp_communication.si);
  sound("hidden_dp", p.hidden_dp.si);
  sound("dp_bytes", p.dp_bytes.si);
  sound("tp_bytes", p.tp_bytes.si);
  sound("cp_bytes", p.cp_bytes.si);
  sound("ep_bytes", p.ep_bytes.si);
  sound("pp_bytes", p.pp_bytes.si);
  const double total = p.waterfall.total().si;
  if (std::abs(total - p.step.si) > 1e-6 * p.step.si + 1e-9) {
    broken("the terms add up to the step: " + std::to_string(total) + " and " +
           std::to_string(p.step.si));
  }
  return std::to_string(p.step.si) + " ";
}

std::string refused(const Problem& problem) {
  if (problem.message.empty()) {
    broken("who gives no answer says why");
  }
  return problem.message + "\n";
}

std::string simulated(Simulation& simulation, const CompressionPlan& plan) {
  const Problems problems = simulation.outlook(plan).problems;
  if (!problems.empty()) {
    return refused(problems.front());
  }
  const sim::SimulatedStep step = simulation.run(plan);
  if (step.problem) {
    return refused(*step.problem);
  }
  for (const Seconds share : step.critical_path) {
    sound("a share of the critical path", share.si);
  }
  return sound(step.prediction);
}

void sound(const Comparison& comparison) {
  sound("speedup", comparison.speedup);
  sound("its low end", comparison.speedup_low);
  sound("its high end", comparison.speedup_high);
  sound("its probability", comparison.probability);
}

std::string assessed(const ReadExperiment& read) {
  AssessOptions options;
  options.limits = read.limits;
  options.draws = 16;
  const Payoff payoff = assess(read.experiment, options);
  std::string told;
  for (const PlanPayoff& plan : payoff.plans) {
    sound(plan.against_uncompressed);
    sound(plan.against_remedy);
    told += sound(plan.prediction);
    sound("step_low", plan.step_low.si);
    sound("step_high", plan.step_high.si);
  }
  return told;
}

}  // namespace

std::string answers_of(const ReadExperiment& read, bool full) {
  const PreparedExperiment prepared(read.experiment);
  sim::SimOptions limits;
  limits.event_limit = most_events;
  limits.memory_limit = 1_GB;
  Simulation simulation(prepared, read.cluster_state, limits);
  std::string told;
  for (const CompressionPlan& plan : read.experiment.plans) {
    told += sound(prepared.predict(plan));
    told += simulated(simulation, plan);
  }
  return full ? told + assessed(read) : told;
}

}  // namespace payoff::fuzz
