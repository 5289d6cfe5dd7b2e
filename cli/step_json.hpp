// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/evaluate.hpp"

// A predicted step as every command writes it, whichever engine it comes from.

namespace payoff {

[[nodiscard]] nlohmann::ordered_json waterfall_json(const Waterfall& waterfall);
[[nodiscard]] nlohmann::ordered_json step_json(const StepPrediction& prediction);

}  // namespace payoff
