// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibrate/network_fit.hpp"

namespace payoff {

// The section `held_out` of profiles/fitted/network.yaml: by class of links, family of collectives
// and side, how many were held out, how far off they were, and the spread that follows.
[[nodiscard]] std::string held_out_lines(const NetworkFit& fit);

}  // namespace payoff
