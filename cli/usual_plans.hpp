// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// For commands that look for a plan: the usual ones, where the experiment names none.

namespace payoff {

// One of each family of methods that is in wide use, and casts; without those that the GPU is too
// old for. An experiment with a list of plans, even an empty one, keeps it.
void add_usual_plans(ReadExperiment& read, const Library& library, Session& session);

}  // namespace payoff
