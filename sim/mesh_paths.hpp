// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/mesh_circles.hpp"
#include "model/topology.hpp"
#include "sim/collective_programs.hpp"
#include "sim/link_graph.hpp"
#include "sim/program.hpp"
#include "sim/topology.hpp"

// Along which links programs pass the GPUs of a mesh, so that its links carry alike: circles, and
// for programs of several servers paths, one from every GPU. NCCL's search for channels does the
// same; here uniform meshes have Walecki's zigzags (Alspach, "The wonderful Walecki construction",
// Bull. ICA 52, 2008), others their circles cut open.

namespace payoff::sim {

inline constexpr std::size_t most_searched_mesh = most_counted_gpus;  // for rings and trees

// The links between the GPUs themselves, where they join all of them in one server or graph.
[[nodiscard]] std::optional<LinkGraph> small_mesh(const ProgramRanks& ranks,
                                                  const Topology& topology,
                                                  const TopologyGraph& graph);

// Circles through all GPUs, in both directions, each with the same share of its links; nothing
// where links make no circle.
[[nodiscard]] std::vector<std::vector<Rank>> mesh_rings(const LinkGraph& mesh);

// The same through the GPUs of each of several servers, in numbers of one.
[[nodiscard]] std::vector<std::vector<Rank>> server_rings(const ProgramRanks& ranks,
                                                          const Topology& topology,
                                                          const TopologyGraph& graph);
// Whether every pair of GPUs of a server, or of a graph, has links of its own.
[[nodiscard]] bool joins_pairs(const ProgramRanks& ranks, const Topology& topology,
                               const TopologyGraph& graph);

enum class PathUse : std::uint8_t { rings, trees };
// Of each of several servers, in numbers of the GPUs of one; empty where no mesh joins them.
[[nodiscard]] ServerPaths server_paths(PathUse use, const ProgramRanks& ranks,
                                       const Topology& topology, const TopologyGraph& graph);

}  // namespace payoff::sim
