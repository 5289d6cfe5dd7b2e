// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/collective_output.hpp"
#include "cli/command_line.hpp"
#include "cli/session.hpp"

// On which GPUs of a topology file the ranks of `payoff collective` are.

namespace payoff {

// --on-gpus, or the first GPUs of as many servers as the group has nodes, into the question, and
// into its cluster which GPUs of a hybrid cube these are. All that is wrong is reported, also where
// the topology could not be read. `group_is_read`: how many ranks it has is what was meant.
void read_members(const Arguments& arguments, bool group_is_read, CollectiveQuestion& question,
                  Session& session);

}  // namespace payoff
