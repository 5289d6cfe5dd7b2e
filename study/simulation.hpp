// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/experiment.hpp"
#include "model/topology.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "study/engine.hpp"

// The strategies of one job run by events (sim/step.hpp): what each will cost and what forbids it
// is known before its first event.

namespace payoff {

class Simulation {
 public:
  // What is referred to has to outlive it.
  Simulation(const PreparedExperiment& prepared, const ClusterState& state,
             const sim::SimOptions& options = {}, const sim::PlatformRules& rules = {})
      : prepared_(prepared), state_(state), options_(options), rules_(rules) {}

  struct Outlook {
    sim::Estimate estimate;
    sim::FoldReport fold;
    Problems problems;  // by path of the experiment: no bandwidth, too many events, the clock
  };
  [[nodiscard]] Outlook outlook(const CompressionPlan& compression);
  // Of all its strategies the same, but of those whose messages are others': how many ranks are
  // simulated for all.
  [[nodiscard]] sim::FoldReport fold(const CompressionPlan& compression);

  // Requires an outlook without problems.
  [[nodiscard]] sim::SimulatedStep run(const CompressionPlan& compression,
                                       sim::TraceWriter* trace = nullptr);

  // Both as an engine's answer.
  [[nodiscard]] EngineAnswer answer(const CompressionPlan& compression);

 private:
  [[nodiscard]] const sim::BuiltPlatform& platform(const StepPlan& step);

  const PreparedExperiment& prepared_;
  const ClusterState& state_;
  sim::SimOptions options_;
  sim::PlatformRules rules_;
  // Of strategies by the groups that exchange between all pairs of their ranks, and of the last one
  // that needs its own.
  std::map<std::uint64_t, std::optional<sim::BuiltPlatform>> platforms_;
  std::optional<sim::BuiltPlatform> own_platform_;
};

// Of runs one after the other: their events together, the memory of the largest one.
[[nodiscard]] sim::Estimate together(const sim::Estimate& all, const sim::Estimate& next);

}  // namespace payoff
