// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/collective_output.hpp"
#include "cli/command_line.hpp"
#include "cli/session.hpp"

// `payoff collective --level steps`: every send of the chosen program on the links of the
// cluster, or of a topology file, beside the price and the bare alpha-beta answer.

namespace payoff {

// Runs every row's program; rows whose algorithm is no program say why. What is wrong is reported
// under the argument that asked for it.
void add_steps(const CollectiveQuestion& question, const Arguments& arguments,
               std::vector<CollectiveRow>& rows, Session& session);

}  // namespace payoff
