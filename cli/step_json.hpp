// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/evaluate.hpp"
#include "study/payoff.hpp"

// A predicted step, and how one compares with another, as every command writes them, whichever
// engine they come from.

namespace payoff {

[[nodiscard]] nlohmann::ordered_json waterfall_json(const Waterfall& waterfall);
[[nodiscard]] nlohmann::ordered_json step_json(const StepPrediction& prediction);
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace payoff
