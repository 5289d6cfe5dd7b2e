// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/packed_trees.hpp"
#include "model/topology.hpp"

// What links some of the GPUs of a hybrid cube have to each other: unlike those of a switch they
// depend on which GPUs these are (Wang et al., "Blink", MLSys 2020, section 2). In links of one
// pair, of a GPU, in one direction.

namespace payoff {

struct CubePart {
  // In circles through all of them, both neighbours of a circle and all circles together: what
  // NCCL's rings use. Of two GPUs the links between them. 0: there is no circle.
  double in_circles{};
  // To all others at once, each with an equal part, as in an all-to-all: over the shortest ways
  // among them, by what these can carry, of which the busiest link is the limit. 0: some are cut
  // off.
  double in_exchange{};
  bool has_chain{};  // a way along links passes each of them once
};

// A hybrid cube of P100 has single links between the same pairs as one of V100.
[[nodiscard]] bool is_single_cube(const Fabric& fabric);
// Between the first GPUs, 8 at most, as Server::mesh.
[[nodiscard]] std::vector<int> cube_links(int gpus, bool single);

// Of these GPUs of the cube, 0 to 7, each once.
[[nodiscard]] const CubePart& cube_part(const Fabric& fabric, std::span<const int> gpus);
// Of the group whose GPUs have the fewest, of those that a node has beside it: `local` of its ranks
// are in the node, on the GPUs that Fabric::parts says.
[[nodiscard]] CubePart worst_cube_part(const Fabric& fabric, const Group& group, int local);
// Of those groups, what packed trees carry at least.
[[nodiscard]] TreeRates worst_cube_trees(const Fabric& fabric, const Group& group, int local);

// For Fabric::parts: the GPUs of a node's ranks, server by server, where the ranks are on these
// GPUs of a topology, `per_node` of them on each node. Nothing where that says nothing of a cube:
// another fabric, a topology whose servers are none, nodes that are spread over several servers.
[[nodiscard]] std::vector<std::vector<int>> cube_parts_of(const Fabric& fabric,
                                                          const Topology& topology,
                                                          std::span<const int> gpus, int per_node);

}  // namespace payoff
