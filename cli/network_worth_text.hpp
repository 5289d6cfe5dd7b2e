// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/prediction_report.hpp"

// What a network that makes compression pointless would cost: a section of `payoff predict`, where
// --network-price asks for it.

namespace payoff {

// Empty where nobody asked.
[[nodiscard]] std::string network_worth_text(const PredictionReport& report);
[[nodiscard]] nlohmann::ordered_json network_worth_json(const PredictionReport& report);

}  // namespace payoff
