// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/topology.hpp"
#include "sim/link_graph.hpp"

// What the traffic of others leaves of the links of a topology (BackgroundLoad): a share of every
// link of a class, drawn anew for each link. Routes do not avoid it.

namespace payoff::sim {

// Whether draws differ: whether links of a class are left unequal shares.
[[nodiscard]] bool differs_from_link_to_link(const Topology& topology);

// Standard normal, nearly, and the same on every machine: between -6 and 6.
[[nodiscard]] double normal_draw(std::uint64_t seed, std::uint64_t index);

// Whose load a link has.
[[nodiscard]] BackgroundClass background_class(LinkClass link);
// Of the capacity of the edge, between 0.05 and 1; all of it where the topology has no load.
[[nodiscard]] double left_by_others(const Topology& topology, LinkClass link, EdgeId edge);
// By edge of the graph.
[[nodiscard]] std::vector<Bandwidth> left_capacities(const Topology& topology,
                                                     const LinkGraph& graph);

}  // namespace payoff::sim
