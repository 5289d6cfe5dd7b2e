// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/trust.hpp"

// What a prediction rests on, as every command that predicts writes it.

namespace payoff {

[[nodiscard]] nlohmann::ordered_json trust_json(const Trust& trust);

}  // namespace payoff
