// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/collective_output.hpp"
#include "cli/command_line.hpp"
#include "cli/session.hpp"

// `payoff collective --level steps`: what every send of the program takes on the links of the
// cluster, or of a topology file, beside the price and the bare alpha-beta answer.

namespace payoff {

// --level, --topology and --program into the question; what is wrong is reported.
void read_level(const Arguments& arguments, CollectiveQuestion& question, Session& session);

// Runs every row's program; rows whose algorithm is no program say why.
void add_steps(const CollectiveQuestion& question, std::vector<CollectiveRow>& rows,
               Session& session);

}  // namespace payoff
