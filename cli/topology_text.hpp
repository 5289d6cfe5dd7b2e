// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/topology.hpp"

namespace payoff {

// What a topology consists of: its links by class, the bisection bandwidth, for a mesh what trees
// and rings carry, and what collectives take when they run alone.
[[nodiscard]] std::string topology_text(const sim::TopologyGraph& graph, Balance balance,
                                        std::uint64_t seed);

}  // namespace payoff
