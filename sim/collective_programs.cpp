// SPDX-License-Identifier: Apache-2.0
#include "sim/collective_programs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "sim/mesh_paths.hpp"
#include "sim/switch_trees.hpp"
#include "sim/tree_programs.hpp"

namespace payoff::sim {
namespace {

LaidProgram in_one(ProgramKind kind) {
  Program program(std::move(kind));
  return {program, program, {}};
}

template <class Kind>
LaidProgram in_segments(Kind kind) {
  kind.segments = 1;
  Program whole(kind);
  kind.segments = segments_for(whole.steps());
  return {Program(kind), std::move(whole), {}};
}

const RegularTopology* regular(const Topology& topology) {
  return std::get_if<RegularTopology>(&topology.shape);
}

LaidProgram ring(Collective collective, const ProgramRanks& ranks, const Topology& topology,
                 const TopologyGraph& graph) {
  const Outcome outcome = outcome_of(collective);
  const bool chains = outcome == Outcome::broadcast || outcome == Outcome::reduced;
  const Rank servers = ranks.ranks / ranks.gpus;
  if (const auto mesh = small_mesh(ranks, topology, graph)) {
    std::vector<std::vector<Rank>> orders = mesh_rings(*mesh);
    if (!orders.empty()) {
      return chains ? in_segments(MeshChainsProgram{std::move(orders), outcome, 1})
                    : in_one(MeshRingsProgram{std::move(orders), outcome});
    }
  }
  ServerPaths inside;
  if (servers > 1) {
    inside = server_paths(PathUse::rings, ranks, topology, graph);
  }
  if (chains) {
    return in_segments(ChainsProgram{servers, ranks.gpus, outcome, 1, std::move(inside)});
  }
  const bool rails = ranks.gpus > 1 && servers > 1;
  return rails ? in_one(RailRingsProgram{servers, ranks.gpus, outcome, std::move(inside)})
               : in_one(RingProgram{ranks.ranks, outcome});
}

LaidProgram tree(const ProgramRanks& ranks, const Topology& topology, const TopologyGraph& graph) {
  return in_segments(RailTreesProgram{ranks.ranks / ranks.gpus, ranks.gpus, 1,
                                      server_paths(PathUse::trees, ranks, topology, graph)});
}

LaidProgram pairwise(const ProgramRanks& ranks, const Topology& topology,
                     const TopologyGraph& graph) {
  return in_one(PairwiseProgram{ranks.ranks, ranks.gpus, joins_pairs(ranks, topology, graph)});
}

LaidOrReason nvls(Collective collective, const ProgramRanks& ranks, const Topology& topology,
                  const TopologyGraph& graph) {
  const RegularTopology* shape = regular(topology);
  if (shape == nullptr || shape->server.fabric != ServerFabric::switched) {
    return "NVLS needs the switch of a server, and the topology has none";
  }
  const RegularLayout layout(*shape);
  const Rank servers = ranks.ranks / ranks.gpus;
  LaidProgram laid = in_segments(NvlsProgram{servers, ranks.gpus, outcome_of(collective), 1});
  for (Rank s = 0; s < servers; ++s) {
    const std::uint32_t gpu = graph.gpu_of_rank[std::size_t{s} * ranks.gpus];
    laid.switches.push_back(layout.fabric_switch(gpu / layout.gpus_per_server()));
  }
  return laid;
}

LaidOrReason sharp(const ProgramRanks& ranks, const Topology& topology) {
  if (ranks.ranks != topology.gpus()) {
    return "SHARP's trees are laid through all GPUs of a topology, not through some";
  }
  SwitchTrees trees = switch_trees(topology, ranks.ranks);
  if (trees.above.empty()) {
    return "SHARP needs a tree of switches between the servers";
  }
  LaidProgram laid = in_segments(SwitchProgram{ranks.ranks, std::move(trees.above), 1});
  laid.switches = std::move(trees.switches);
  return laid;
}

LaidOrReason parameter_server(const ProgramRanks& ranks, Rank servers) {
  if (servers >= ranks.ranks) {
    return "of " + std::to_string(ranks.ranks) + " ranks " + std::to_string(servers) +
           " cannot be servers: nobody is left to train";
  }
  return servers == 0 ? in_one(ParameterServerProgram{ranks.ranks, ranks.ranks, true})
                      : in_one(ParameterServerProgram{ranks.ranks - servers, servers, false});
}

LaidOrReason gossip_on_links(Rank ranks, const LinkGraph& links) {
  std::vector<Rank> rank_on(links.vertices().size(), ranks);  // by vertex; `ranks`: none
  for (Rank r = 0; r < ranks; ++r) {
    rank_on[links.gpu(r)] = r;
  }
  std::vector<std::vector<Rank>> neighbours(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    for (const Edge& edge : links.out(links.gpu(r))) {
      if (rank_on[edge.to] < ranks) {
        neighbours[r].push_back(rank_on[edge.to]);
      }
    }
    if (neighbours[r].empty()) {
      return "no link leads from the GPU of rank " + std::to_string(r) + " to another one directly";
    }
    std::sort(neighbours[r].begin(), neighbours[r].end());
  }
  return in_one(GossipProgram{std::move(neighbours)});
}

LaidOrReason gossip(Rank ranks, const ProgramDetails& details, const LinkGraph& links) {
  if (!details.own_neighbours.empty()) {
    return details.own_neighbours.size() == ranks
               ? LaidOrReason(in_one(GossipProgram{details.own_neighbours}))
               : "the graph is one of " + std::to_string(details.own_neighbours.size()) +
                     " ranks, not of " + std::to_string(ranks);
  }
  const GossipGraph graph = details.neighbours;
  if (graph == GossipGraph::links) {
    return gossip_on_links(ranks, links);
  }
  std::vector<std::vector<Rank>> neighbours(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    std::vector<Rank>& own = neighbours[r];
    const bool doubles = graph == GossipGraph::exponential;
    for (Rank away = 1; away < ranks; away = doubles ? 2 * away : away + 1) {
      if (graph != GossipGraph::ring || away == 1 || away == ranks - 1) {
        own.push_back((r + away) % ranks);
      }
    }
  }
  return in_one(GossipProgram{std::move(neighbours)});
}

LaidOrReason sparse_gather(const ProgramRanks& ranks, double imbalance, const Topology& topology,
                           const TopologyGraph& graph) {
  const double n = ranks.ranks;
  if (imbalance < 1 || imbalance > n) {
    return "one of " + std::to_string(ranks.ranks) + " ranks has between 1 and " +
           std::to_string(ranks.ranks) + " times the mean";
  }
  std::vector<double> shares(ranks.ranks, (1 - imbalance / n) / (n - 1));
  shares.front() = imbalance / n;
  if (ranks.gpus == ranks.ranks) {
    return in_one(SparseGatherProgram{std::move(shares), 1});
  }
  return in_one(SparseGatherProgram{std::move(shares), ranks.gpus,
                                    server_paths(PathUse::rings, ranks, topology, graph)});
}

std::string different_sizes(const ProgramRanks& ranks, const TopologyGraph& graph) {
  if (ranks.ranks < 2) {
    return "one rank sends nothing";
  }
  return graph.links.ranks() == ranks.ranks
             ? ""
             : "the topology has " + std::to_string(graph.links.ranks()) + " GPUs, the group " +
                   std::to_string(ranks.ranks) + " ranks";
}

}  // namespace

std::string_view name(OtherProgram program) {
  constexpr std::array<std::string_view, other_program_count> names{"halving_doubling",
                                                                    "hierarchical",
                                                                    "two_shot",
                                                                    "sharp",
                                                                    "packed_trees",
                                                                    "bruck",
                                                                    "pxn",
                                                                    "parameter_server",
                                                                    "gossip",
                                                                    "sparse_all_gatherv"};
  return names.at(static_cast<std::size_t>(program));
}

std::string_view name(GossipGraph graph) {
  constexpr std::array<std::string_view, gossip_graph_count> names{"ring", "exponential",
                                                                   "complete", "links"};
  return names.at(static_cast<std::size_t>(graph));
}

std::vector<Collective> collectives_of(OtherProgram program) {
  switch (program) {
    case OtherProgram::pxn:
      return {Collective::all_to_all};
    case OtherProgram::bruck:
    case OtherProgram::sparse_all_gatherv:
      return {Collective::all_gather};
    case OtherProgram::packed_trees:
      return {Collective::all_reduce, Collective::broadcast, Collective::reduce};
    default:
      return {Collective::all_reduce};
  }
}

LaidOrReason program_of(Collective collective, Algorithm algorithm, const ProgramRanks& ranks,
                        const Topology& topology, const TopologyGraph& graph) {
  if (std::string reason = different_sizes(ranks, graph); !reason.empty()) {
    return reason;
  }
  switch (algorithm) {
    case Algorithm::ring:
      return ring(collective, ranks, topology, graph);
    case Algorithm::tree:
      return tree(ranks, topology, graph);
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return nvls(collective, ranks, topology, graph);
    case Algorithm::pat:
      return in_one(BruckProgram{ranks.ranks, outcome_of(collective)});
    case Algorithm::pairwise:
      return pairwise(ranks, topology, graph);
    default:
      return "no program for " + std::string(name(collective)) + " by " +
             std::string(name(algorithm));
  }
}

LaidOrReason program_of(OtherProgram program, const ProgramRanks& ranks, const Topology& topology,
                        const TopologyGraph& graph, const ProgramDetails& details) {
  if (std::string reason = different_sizes(ranks, graph); !reason.empty()) {
    return reason;
  }
  const Rank servers = ranks.ranks / ranks.gpus;
  const bool two_levels = servers > 1 && ranks.gpus > 1;
  switch (program) {
    case OtherProgram::halving_doubling:
      if (!std::has_single_bit(ranks.ranks)) {
        return "halving needs a power of two of ranks, not " + std::to_string(ranks.ranks);
      }
      return in_one(HalvingDoublingProgram{ranks.ranks});
    case OtherProgram::hierarchical:
      return two_levels ? LaidOrReason(in_one(HierarchicalProgram{
                              servers, ranks.gpus, server_rings(ranks, topology, graph)}))
                        : "a hierarchy needs servers of several GPUs";
    case OtherProgram::two_shot:
      return in_one(TwoShotProgram{ranks.ranks});
    case OtherProgram::sharp:
      return sharp(ranks, topology);
    case OtherProgram::packed_trees:
      return packed_trees(details.collective.value_or(Collective::all_reduce), ranks, topology,
                          graph);
    case OtherProgram::bruck:
      return in_one(BruckProgram{ranks.ranks});
    case OtherProgram::pxn:
      return two_levels ? LaidOrReason(in_one(
                              PxnProgram{servers, ranks.gpus, joins_pairs(ranks, topology, graph)}))
                        : "PXN needs servers of several GPUs";
    case OtherProgram::parameter_server:
      return parameter_server(ranks, details.servers);
    case OtherProgram::gossip:
      return gossip(ranks.ranks, details, graph.links);
    case OtherProgram::sparse_all_gatherv:
      return sparse_gather(ranks, details.imbalance, topology, graph);
  }
  return "";
}

}  // namespace payoff::sim
