// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiles/read_experiment.hpp"

// Whatever experiment is accepted: both engines answer with finite times that are not negative, or
// with a reason; the terms of a step add up to it; and they answer the same when asked again.

namespace payoff::fuzz {

// What they said. `full` asks for draws and break-evens too, which takes a hundred times as long.
[[nodiscard]] std::string answers_of(const ReadExperiment& read, bool full);

}  // namespace payoff::fuzz
