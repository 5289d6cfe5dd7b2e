// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/topology.hpp"
#include "sim/topology.hpp"

namespace payoff {

// What a topology consists of: its links by class, the bisection bandwidth, for a mesh what trees
// and rings carry, and what collectives take when they run beside the traffic of others alone. What
// is not worked out is said, with its reason.
[[nodiscard]] std::string topology_text(const Topology& topology, const sim::TopologyGraph& graph);
// The same of a topology too large for its links to be listed; nothing if it is not.
[[nodiscard]] std::optional<std::string> text_without_links(const Topology& topology);

}  // namespace payoff
