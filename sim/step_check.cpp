// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "sim/beyond_clock.hpp"
#include "sim/step.hpp"
#include "sim/step_count.hpp"
#include "sim/step_memory.hpp"

// What a run would cost and whether it can be run at all, before it is.

namespace payoff::sim {
namespace {

std::string megabytes(Bytes size) {
  return std::to_string(static_cast<std::uint64_t>(size / 1_MB)) + " MB";
}

// What a user can do about it, other than to allow more.
std::string fewer_events(const StepPlan& plan, const Platform& platform, const Estimate& cost) {
  std::string advice;
  const auto add = [&](bool helps, const std::string& what) {
    advice += helps ? (advice.empty() ? "" : ", or ") + what : std::string();
  };
  const bool by_ranks = platform.places().several_a_stage(plan.stages.size());
  add(cost.sends > 0, "leave `--level steps` away: " + std::to_string(cost.sends) +
                          " of them are sends of messages, which are one event each without it");
  add(plan.layout.micro_batches > 1, "simulate fewer micro-batches: the pipeline repeats itself");
  add(by_ranks && cost.sends == 0, "make ranks alike: hashed routes, jitter and `--no-fold` run " +
                                       std::to_string(platform.places().places.size()) +
                                       " of them one by one");
  add(plan.layout.micro_batches == 1, "simulate fewer layers of the model");
  return advice + ", or raise --event-limit";
}

Problem too_many_events(const StepPlan& plan, const Platform& platform, const Estimate& cost,
                        std::uint64_t limit) {
  return {std::string(key_of_work(plan)),
          "the simulation has " + std::to_string(cost.events) + " events, more than " +
              std::to_string(limit),
          fewer_events(plan, platform, cost)};
}

// The key that what is largest grows with, and what to do about it.
Problem too_much_memory(const StepMemory& memory, const StepPlan& plan, Bytes limit) {
  Problem problem;
  const Bytes most = std::max({memory.buckets, memory.pieces, memory.inputs, memory.ranks,
                               memory.operations, memory.sends});
  if (most == memory.buckets) {
    problem = {"training.bucket", "buckets of gradients", "make them larger"};
  } else if (most == memory.operations) {
    problem = {"layout.micro_batches", "operations of all micro-batches",
               "simulate fewer of them: the pipeline repeats itself"};
  } else if (most == memory.sends) {
    problem = {"cluster.nodes", "sends of messages and the ways that they take",
               "simulate fewer nodes, or leave `--level steps` away"};
  } else if (most == memory.ranks) {
    problem = {"cluster.nodes", "ranks and the groups that they are in", "simulate fewer nodes"};
  } else if (most == memory.inputs && plan.layout.schedule == PipelineSchedule::gpipe &&
             plan.layout.micro_batches > plan.layout.pp) {
    problem = {"layout.micro_batches", "what is on its way between pipeline stages",
               "simulate fewer of them: the pipeline repeats itself"};
  } else if (most == memory.inputs) {
    problem = {"layout.pp", "what is on its way between pipeline stages",
               "simulate fewer stages or chunks of stages"};
  } else {
    problem = {"model", "the layers of the model", "simulate fewer of them"};
  }
  problem.message = "the simulation needs about " + megabytes(memory.all()) +
                    " of memory, more than " + megabytes(limit) + ", most of it for " +
                    problem.message;
  if (memory.places > plan.stages.size()) {
    problem.help += "; " + std::to_string(memory.places) +
                    " places are simulated because ranks of a stage differ: hashed routes, jitter "
                    "and `--no-fold` do not fold";
  }
  return problem;
}

}  // namespace

Estimate estimate(const StepPlan& plan, const Platform& platform) {
  constexpr Bytes of_span{210};  // on average
  const StepCount count = count_step(plan, platform);
  return {count.events, count.sends, memory_of_step(plan, platform).all(),
          static_cast<double>(count.spans) * of_span};
}

Problems check(const StepPlan& plan, const Platform& platform, const SimOptions& options) {
  Problems problems = check(platform);
  if (!problems.empty()) {
    return problems;  // no time on a link without bandwidth
  }
  if (auto problem = beyond_clock(plan, platform)) {
    problems.push_back(*std::move(problem));
  }
  const Estimate cost = estimate(plan, platform);
  if (cost.events > options.event_limit) {
    problems.push_back(too_many_events(plan, platform, cost, options.event_limit));
  }
  if (cost.memory > options.memory_limit) {
    problems.push_back(too_much_memory(memory_of_step(plan, platform), plan, options.memory_limit));
  }
  return problems;
}

}  // namespace payoff::sim
