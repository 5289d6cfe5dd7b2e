// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "profiles/read_experiment.hpp"
#include "sim/step.hpp"
#include "study/engine.hpp"

// Other engines, whose answers stand beside ours: the simulator, and the cost models of papers.

namespace payoff {

inline constexpr OptionSpec engine_option{
    "--engine", "NAME", "also what sim says, or a paper's model: agarwal2022, bian2024, mgwfbp",
    Takes::values};

// Those asked for, our own left out: it is always there.
[[nodiscard]] std::vector<Engine> read_engines(const Arguments& arguments, Session& session);

// What one engine says of every plan, in the order of the experiment.
struct EngineAnswers {
  Engine engine{};
  std::vector<EngineAnswer> plans;
};

// A simulation that takes long is announced before it starts; none starts that is refused. What
// makes it impossible to ask an engine at all is reported.
[[nodiscard]] std::vector<EngineAnswers> ask_engines(const std::vector<Engine>& engines,
                                                     const PreparedExperiment& prepared,
                                                     const ReadExperiment& read,
                                                     const sim::SimOptions& options,
                                                     Session& session);
// Says that the answers leave out what only the simulator sees, where there is any; with the
// simulator asked too, that its table alone has it.
void warn_of_unseen_state(const ClusterState& state, const std::vector<Engine>& engines,
                          Session& session);

// One table an engine: step and speedup, its answer beside ours.
[[nodiscard]] std::string engines_text(const std::vector<EngineAnswers>& answers,
                                       const PreparedExperiment& prepared);

}  // namespace payoff
