// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "sim/collective_programs.hpp"

// Who takes part in a program: all ranks of a topology, or some.

namespace payoff::sim {

ProgramRanks ranks_on(const Topology& topology, const Group& group) {
  const RegularTopology* shape = std::get_if<RegularTopology>(&topology.shape);
  const int gpus =
      shape != nullptr ? shape->server.gpus : std::min(group.ranks, group.ranks_per_node);
  return {static_cast<Rank>(group.ranks), static_cast<Rank>(gpus)};
}

TopologyGraph with_switches(const TopologyGraph& graph, std::span<const VertexId> switches) {
  std::vector<VertexId> places;
  for (Rank r = 0; r < graph.links.ranks(); ++r) {
    places.push_back(graph.links.gpu(r));
  }
  places.insert(places.end(), switches.begin(), switches.end());
  TopologyGraph result = graph;
  result.links = LinkGraph(graph.links.vertices(), graph.links.edges(), std::move(places));
  return result;
}

TopologyGraph part_of(const TopologyGraph& graph, std::span<const Rank> members) {
  TopologyGraph result = graph;
  std::vector<VertexId> gpus;
  result.gpu_of_rank.clear();
  for (const Rank member : members) {
    gpus.push_back(graph.links.gpu(member));
    result.gpu_of_rank.push_back(graph.gpu_of_rank[member]);
  }
  result.links = LinkGraph(graph.links.vertices(), graph.links.edges(), std::move(gpus));
  return result;
}

ProgramRanks ranks_of_part(const Topology& topology, std::span<const std::uint32_t> gpu_of_rank,
                           Rank gpus) {
  const auto ranks = static_cast<Rank>(gpu_of_rank.size());
  const auto* shape = std::get_if<RegularTopology>(&topology.shape);
  if (shape == nullptr) {
    return {ranks, gpus > 0 && ranks % gpus == 0 ? gpus : 1};
  }
  const auto server = [&](Rank rank) {
    return gpu_of_rank[rank] / static_cast<std::uint32_t>(shape->server.gpus);
  };
  Rank run = 1;
  while (run < ranks && server(run) == server(0)) {
    ++run;
  }
  std::vector<std::uint32_t> seen;
  for (Rank first = 0; first < ranks; first += run) {
    for (Rank rank = first; rank < std::min(ranks, first + run); ++rank) {
      if (ranks % run != 0 || server(rank) != server(first)) {
        return {ranks, 1};
      }
    }
    seen.push_back(server(first));
  }
  std::sort(seen.begin(), seen.end());
  const bool once = std::adjacent_find(seen.begin(), seen.end()) == seen.end();
  return {ranks, once ? run : 1};
}

}  // namespace payoff::sim
