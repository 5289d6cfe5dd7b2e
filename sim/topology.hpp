// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/problem.hpp"
#include "model/topology.hpp"
#include "model/topology_check.hpp"
#include "sim/link_graph.hpp"
#include "sim/regular_layout.hpp"

// The graph of a described topology. Faults are applied to it: a failed link is not in the graph,
// and routes around it are searched for, not computed.

namespace payoff::sim {

struct TopologyGraph {
  LinkGraph links;
  // Where routes are arithmetic: a regular topology in which no link has failed.
  std::optional<RegularLayout> regular;
  std::vector<std::uint32_t> gpu_of_rank;     // counted server by server
  std::vector<std::vector<VertexId>> routes;  // that the user prescribed
};

// The topology has to pass check(); what is wrong beyond that (faults of links that are not there,
// GPUs that cannot reach each other) is said by path, and the result is then empty.
struct BuiltTopology {
  std::optional<TopologyGraph> graph;
  Problems problems;
};
[[nodiscard]] BuiltTopology build(const Topology& topology);

// The problems of build() alone, for whoever reads topologies; quick where a regular topology is
// connected by construction. Where only the servers of a regular topology are known, its faults
// that are within them.
[[nodiscard]] Problems find_in_links(const Topology& topology, KnownParts known);

namespace detail {
// The edges of the network of a regular topology, and its vertices.
struct GraphParts {
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;

  void join(VertexId a, VertexId b, const LinkRate& rate, LinkClass link_class);
};
void add_servers(const RegularLayout& layout, GraphParts& parts);
void add_network(const RegularLayout& layout, GraphParts& parts);

// Whether any link failed altogether. Faults of links that are not there are problems.
[[nodiscard]] bool apply_faults(const std::vector<LinkFault>& faults, GraphParts& parts,
                                Problems& problems);
// Without what names a part of the network, or with unknown NICs one of these.
[[nodiscard]] Problems find_faults_in_servers(const Topology& topology, bool knows_nics);
}  // namespace detail

}  // namespace payoff::sim
