// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/link_graph.hpp"

// Collectives on packed spanning trees (Wang et al., "Blink: Fast and Generic Collectives for
// Distributed ML", MLSys 2020). Trees share the links of a mesh of GPUs; each carries its share of
// the data, in chunks, so that the rate of all is the sum of theirs. How many fit is found by
// multiplicative weights (Garg and Koenemann, SIAM J. Comput. 37(2), 2007) over cheapest trees,
// then few trees with whole shares of a link are picked among them. Latency is not part of it.

namespace payoff::sim {

// What a tree does to the links it uses.
enum class TreeUse : std::uint8_t {
  broadcast,   // from the root down, or a reduction up: one direction of each link
  all_reduce,  // up and down at once: both
};

struct PackedTree {
  std::vector<VertexId> parent;  // by vertex; the root's is itself
  Bandwidth rate;
};

struct TreePacking {
  VertexId root{};
  std::vector<PackedTree> trees;
  Bandwidth rate;  // of all of them
};

// The links that join the GPUs of these ranks directly; its ranks and vertices are theirs, in
// order. Nothing if some of them are joined by switches only, or not at all.
[[nodiscard]] std::optional<LinkGraph> mesh_of(const LinkGraph& links, std::span<const Rank> ranks);

struct PackingRules {
  double epsilon = 0.05;        // the rate is at least 1 - 2 epsilon of the best
  double lost_fraction = 0.05;  // of the rate, at most, for having few trees
};

// Its links that lead both ways, each as wide as the narrower direction: what goes up comes down.
[[nodiscard]] LinkGraph both_ways(const LinkGraph& mesh);

// Every vertex has to be within reach of the root, for all-reduces over links both ways, which are
// all that they use.
[[nodiscard]] TreePacking pack_fractional(const LinkGraph& links, VertexId root, TreeUse use,
                                          const PackingRules& rules = {});
// Trees of whole shares of the narrowest link; of a half, a third ... an eighth of it where larger
// ones lose more than the rules allow; as they are where these do.
[[nodiscard]] TreePacking pack_few(const LinkGraph& links, VertexId root, TreeUse use,
                                   const PackingRules& rules = {});

// The most that any packing could reach. From a root: the smallest cut to a vertex, which Edmonds
// ("Edge-disjoint branchings", 1973) shows is reached.
[[nodiscard]] Bandwidth broadcast_bound(const LinkGraph& mesh, VertexId root);
// Up and down: Nash-Williams and Tutte (1961), over all partitions of at most 10 GPUs.
[[nodiscard]] Bandwidth all_reduce_bound(const LinkGraph& mesh);

// One tree of depth one for each rank, on a switch that gives every rank `link`: rank i is the root
// of the i-th share of the data.
[[nodiscard]] TreePacking one_hop_trees(Rank ranks, Bandwidth link, TreeUse use);

// All-reduce of servers of different meshes: reduced inside, exchanged in one hop between roots
// that share the NICs of their server, broadcast inside; one phase after the other.
[[nodiscard]] Seconds three_phase_time(std::span<const TreePacking> servers, Bandwidth nics,
                                       Bytes size);

// How many circles through all GPUs of a mesh fit beside each other, each with one share `unit` of
// its links: what NCCL's rings use, one in each direction. At most 10 GPUs.
[[nodiscard]] int ring_count(const LinkGraph& mesh, Bandwidth unit);
// As many of them, each as the order of its GPUs, of the two directions one.
[[nodiscard]] std::vector<std::vector<Rank>> rings(const LinkGraph& mesh, Bandwidth unit);

}  // namespace payoff::sim
