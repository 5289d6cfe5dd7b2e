// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/link_graph.hpp"

// The cheapest tree that leads from a root to every vertex (Chu and Liu 1965, Edmonds 1967), by
// contracting circles of cheapest incoming edges; O(V E). For the small graphs of a server.

namespace payoff::sim {

// One incoming edge for every vertex but the root, by vertex; nothing if a vertex is out of reach.
// Of equally cheap edges the first one is taken.
[[nodiscard]] std::optional<std::vector<EdgeId>> cheapest_arborescence(
    const LinkGraph& links, VertexId root, std::span<const double> costs);

inline constexpr EdgeId no_edge = UINT32_MAX;  // of the root

}  // namespace payoff::sim
