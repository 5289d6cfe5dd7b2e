// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"
#include "cli/trust.hpp"
#include "model/experiment.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"

// The answer of `payoff simulate`: steps by events beside the analytical ones, where their time
// goes, what the critical path consists of, what moved and how much of it was hidden, and how busy
// the links were.

namespace payoff {

struct PlanSimulation {
  std::string label;
  sim::Estimate estimate;  // made before it ran
  sim::SimulatedStep simulated;
  StepPrediction analytical;
  bool over_graph{};  // nodes average with their neighbours in a graph
};

struct SimulationReport {
  const Experiment& experiment;
  Trust trust;
  std::vector<PlanSimulation> plans;  // the last one may have been interrupted
  sim::FoldReport fold;
  bool steps{false};       // level `steps`
  std::string not_folded;  // why every rank is simulated by itself; empty: they are not
};

[[nodiscard]] std::string simulation_text(const SimulationReport& report);
[[nodiscard]] std::string simulation_json(const SimulationReport& report,
                                          const ReadExperiment& read, const Library& library,
                                          const Session& session);

}  // namespace payoff
