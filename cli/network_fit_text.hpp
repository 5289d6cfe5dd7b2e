// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibrate/network_fit.hpp"

// What `payoff calibrate fit network` prints: errors of the fit, then those that count, of machines
// and scales that were left out of the fit, and the spreads that follow from them.

namespace payoff {

[[nodiscard]] std::string network_fit_text(const NetworkFit& fit);

}  // namespace payoff
