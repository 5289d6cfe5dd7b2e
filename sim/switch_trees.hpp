// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/topology.hpp"
#include "sim/link_graph.hpp"

// Trees over the switches of a regular network, for sums in the network: SHARP (Graham et al.,
// COM-HPC 2016). One for every GPU of a server: the other GPUs hang below it as a chain (NCCL's
// CollNet chain), it sends over its rail to its leaf, leaves to a spine of their pod, spines to a
// core, as far up as a rail has several of them. All trees of rail k take spine and core k.

namespace payoff::sim {

struct SwitchTrees {
  // The parent of every rank, then of every switch; the root's is itself. Empty: no tree.
  std::vector<std::vector<Rank>> above;
  std::vector<VertexId> switches;
};
[[nodiscard]] SwitchTrees switch_trees(const Topology& topology, Rank ranks);

}  // namespace payoff::sim
