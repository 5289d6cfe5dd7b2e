// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/experiment.hpp"
#include "model/problem.hpp"
#include "model/topology.hpp"

// The cost models of papers behind the interface of our own: the same job, answered by the formula
// of a paper (model/reference_*.hpp) where it applies, and a reason where it does not; and our own
// simulator (sim/step.hpp), which runs the same plan by events. The papers
// model backward and its communication, or the sums of a layer; forward, optimizer and host are
// Payoff's in every engine, so that answers differ by what the papers say about communication only.

namespace payoff {

enum class Engine { analytical, simulated, agarwal2022, bian2024, mgwfbp };
inline constexpr std::array all_engines{Engine::analytical, Engine::simulated, Engine::agarwal2022,
                                        Engine::bian2024, Engine::mgwfbp};

// Ends in "-reconstructed" where the paper itself could not be read; so it must be printed.
[[nodiscard]] std::string_view name(Engine engine);
// The same without that ending.
[[nodiscard]] std::string_view typed_name(Engine engine);
// Of either name: what a user may type.
[[nodiscard]] std::optional<Engine> find_engine(std::string_view text);
// Paper, equations, and what was put in.
[[nodiscard]] std::string_view citation(Engine engine);

struct EngineAnswer {
  std::optional<StepPrediction> prediction;  // memory is the same for all engines
  std::string reason;                        // why there is none, or what it differs by
  Problems problems{};  // of the experiment itself: no answer is possible, and that is a mistake
};

// Only the simulator looks at `state`.
[[nodiscard]] EngineAnswer predict(Engine engine, const PreparedExperiment& prepared,
                                   const CompressionPlan& compression,
                                   const ClusterState& state = {});

}  // namespace payoff
