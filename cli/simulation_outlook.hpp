// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "cli/simulation_report.hpp"

// What a run of `payoff simulate` will take.

namespace payoff {

// What a long run will cost, told before it starts; a timeline that the disk cannot take is
// refused.
void announce_simulation(const SimulationReport& report, const std::string& folding,
                         const std::optional<Argument>& trace, Session& session);

}  // namespace payoff
