// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/collective_output.hpp"
#include "cli/command_line.hpp"
#include "cli/session.hpp"

// Whether `payoff collective` simulates sends, of which program and on which links.

namespace payoff {

// --level, --topology, --program and what belongs to them into the question; what is wrong is
// reported. `group_is_read`: how many ranks it has is what was meant.
void read_level(const Arguments& arguments, bool group_is_read, CollectiveQuestion& question,
                Session& session);

}  // namespace payoff
