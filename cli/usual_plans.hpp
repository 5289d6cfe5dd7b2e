// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// For commands that look for a plan: the usual ones, where the experiment names none.

namespace payoff {

// One of each family of methods that is in wide use, casts, what sharded data parallelism quantises
// (ZeRO++), and two methods between nodes alone, on the GPU and by the host; without those that the
// nodes cannot run. Some fit no layout of the job as given: who looks for plans leaves these out.
// An experiment with a list of plans, even an empty one, keeps it.
void add_usual_plans(ReadExperiment& read, const Library& library, Session& session);

}  // namespace payoff
