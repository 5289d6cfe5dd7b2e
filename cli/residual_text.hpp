// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/validation_report.hpp"

// The worst cases of a comparison with measurements, each with the waterfall of what was predicted,
// the primitive that is suspect and the measurement that would settle it (study/residual.hpp).

namespace payoff {

// Those to which nothing was fitted: the judge half, and what the split does not list.
[[nodiscard]] std::string residuals_text(const ValidationReport& report);
[[nodiscard]] nlohmann::ordered_json residuals_json(const ValidationReport& report);

// A value of a case in its unit.
[[nodiscard]] std::string value_text(const ValidationCase& c, double value);

}  // namespace payoff
