// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/topology.hpp"

namespace payoff {

// What a topology consists of: its links by class, and the bisection bandwidth.
[[nodiscard]] std::string topology_text(const sim::TopologyGraph& graph);

}  // namespace payoff
