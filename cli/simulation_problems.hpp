// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/session.hpp"
#include "model/problem.hpp"
#include "profiles/positions.hpp"

// What of an experiment cannot be simulated, as diagnostics: under the value that is to blame where
// there is one, and with the strategies that it concerns unless it concerns all.

namespace payoff {

using StrategyProblems = std::vector<std::pair<std::string, Problems>>;  // by label

void report_problems(const StrategyProblems& problems, const PositionMap& positions,
                     Session& session);

}  // namespace payoff
