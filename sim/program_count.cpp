// SPDX-License-Identifier: Apache-2.0
#include "sim/program_count.hpp"

#include <algorithm>
#include <bit>
#include <variant>
#include <vector>

#include "sim/program_shape.hpp"

namespace payoff::sim {
namespace {

// Ranks of any program, in a type that holds the products.
std::uint64_t wide(std::size_t number) { return number; }

// Every rank sends once in every step.
std::uint64_t of_ring(Rank ranks, Outcome outcome) {
  return detail::passes(outcome) * wide(ranks) * (ranks - 1);
}

// Every segment passes every edge of every tree, once each way.
std::uint64_t of_trees(std::size_t trees, std::size_t places, std::uint32_t segments,
                       std::uint64_t ways = 2) {
  return ways * trees * (places - 1) * segments;
}

std::uint64_t count(const RingProgram& p) { return of_ring(p.ranks, p.outcome); }

std::uint64_t count(const RailRingsProgram& p) {
  return p.gpus * of_ring(p.servers * p.gpus, p.outcome);
}

std::uint64_t count(const MeshRingsProgram& p) {
  return p.orders.size() * of_ring(static_cast<Rank>(p.orders.front().size()), p.outcome);
}

std::uint64_t count(const ChainsProgram& p) {
  return of_trees(p.gpus, wide(p.servers) * p.gpus, p.segments, 1);
}

std::uint64_t count(const MeshChainsProgram& p) {
  return of_trees(p.orders.size(), p.orders.front().size(), p.segments, 1);
}

std::uint64_t count(const HalvingDoublingProgram& p) {
  return 2 * wide(p.ranks) * static_cast<std::uint64_t>(std::countr_zero(p.ranks));
}

std::uint64_t count(const DoubleTreeProgram& p) { return of_trees(2, p.ranks, p.segments); }

std::uint64_t count(const RailTreesProgram& p) {
  return of_trees(2 * wide(p.gpus), wide(p.servers) * p.gpus, p.segments);
}

std::uint64_t count(const BruckProgram& p) {
  return wide(p.ranks) * static_cast<std::uint64_t>(std::bit_width(p.ranks - 1));
}

std::uint64_t count(const PairwiseProgram& p) { return wide(p.ranks) * (p.ranks - 1); }

std::uint64_t count(const PxnProgram& p) {
  return wide(p.servers) * p.gpus * (p.gpus - 1 + p.servers - 1);
}

std::uint64_t count(const HierarchicalProgram& p) {
  const std::uint64_t inside = wide(p.ring_count()) * (p.gpus - 1);
  return 2 * wide(p.servers) * p.gpus * (inside + p.servers - 1);
}

std::uint64_t count(const TwoShotProgram& p) { return 2 * wide(p.ranks) * (p.ranks - 1); }

// Not every switch is in every tree.
std::uint64_t count(const SwitchProgram& p) {
  std::uint64_t edges = p.above.empty() ? p.ranks : 0;
  for (const std::vector<Rank>& parent : p.above) {
    for (Rank place = 0; place < parent.size(); ++place) {
      edges += parent[place] != place ? 1U : 0U;
    }
  }
  return 2 * edges * p.segments;
}

// To the switch and back, before and after what goes on between servers.
std::uint64_t count(const NvlsProgram& p) {
  const std::uint64_t inside =
      2 * wide(detail::passes(p.outcome)) * p.servers * p.gpus * p.segments;
  return inside + p.gpus * of_trees(2, p.servers, p.segments);
}

std::uint64_t count(const ParameterServerProgram& p) {
  return 2 * (wide(p.shards) * p.workers - (p.colocated ? p.shards : 0));
}

std::uint64_t count(const GossipProgram& p) {
  std::uint64_t sends = 0;
  for (const std::vector<Rank>& neighbours : p.neighbours) {
    sends += neighbours.size();
  }
  return sends;
}

std::uint64_t count(const SparseGatherProgram& p) {
  return p.gpus * of_ring(static_cast<Rank>(p.shares.size()), Outcome::gathered);
}

std::uint64_t count(const TreesProgram& p) {
  return of_trees(p.packing.trees.size(), p.packing.trees.front().parent.size(), p.segments,
                  detail::passes(p.outcome));
}

// Every root to every other one there and back, and all others up and down.
std::uint64_t of_server_trees(std::uint64_t parts, std::uint64_t ranks, std::uint64_t servers,
                              std::uint64_t segments) {
  return 2 * parts * (servers * (servers - 1) + segments * (ranks - servers));
}

std::uint64_t count(const ServerTreesProgram& p) {
  const std::vector<Rank>& parent = p.parts.front().parent;
  std::uint64_t servers = 0;
  for (Rank r = 0; r < parent.size(); ++r) {
    servers += parent[r] == r ? 1U : 0U;
  }
  return of_server_trees(p.parts.size(), parent.size(), servers, p.segments);
}

// Of the two trees of so many ranks.
std::uint32_t depth_of_double_tree(Rank ranks) {
  std::uint32_t deepest = 0;
  for (const std::vector<Rank>& parent : double_tree(ranks)) {
    const std::vector<std::uint32_t> depths = detail::depths(parent);
    deepest = std::max(deepest, *std::max_element(depths.begin(), depths.end()));
  }
  return deepest;
}

std::uint64_t expected_ring(Collective collective, const ProgramRanks& ranks) {
  const Rank servers = ranks.ranks / ranks.gpus;
  if (collective == Collective::broadcast || collective == Collective::reduce) {
    return of_trees(ranks.gpus, ranks.ranks, segments_for(ranks.ranks - 1), 1);
  }
  const bool is_half =
      collective == Collective::all_gather || collective == Collective::reduce_scatter;
  const Outcome outcome = is_half ? Outcome::gathered : Outcome::all_reduced;
  return (servers > 1 ? ranks.gpus : 1) * of_ring(ranks.ranks, outcome);
}

std::uint64_t expected_nvls(Collective collective, const ProgramRanks& ranks) {
  const Rank servers = ranks.ranks / ranks.gpus;
  const bool sums = collective == Collective::all_reduce;
  NvlsProgram program{servers, ranks.gpus, sums ? Outcome::all_reduced : Outcome::gathered, 1};
  program.segments = segments_for((sums ? 4 : 2) + 2 * depth_of_double_tree(servers));
  return count(program);
}

// In one hop of a switch each way, in so many segments as is laid (sim/tree_programs.hpp).
std::uint64_t expected_trees(const ProgramRanks& ranks, Collective collective) {
  const std::uint64_t servers = ranks.ranks / ranks.gpus;
  if (servers > 1 && ranks.gpus > 1) {
    return of_server_trees(ranks.gpus, ranks.ranks, servers, segments_for(1));
  }
  return collective == Collective::all_reduce
             ? of_trees(ranks.ranks, ranks.ranks, segments_for(2))
             : of_trees(ranks.ranks - 1, ranks.ranks, segments_for(2), 1);
}

// What links there are is known once a topology is built.
std::optional<std::uint64_t> expected_gossip(Rank ranks, const ProgramDetails& details) {
  if (!details.own_neighbours.empty()) {
    return count(GossipProgram{details.own_neighbours});
  }
  const std::uint64_t others = ranks - 1;
  switch (details.neighbours) {
    case GossipGraph::links:
      return std::nullopt;
    case GossipGraph::ring:
      return ranks * std::min<std::uint64_t>(2, others);
    case GossipGraph::exponential:
      return wide(ranks) * static_cast<std::uint64_t>(std::bit_width(ranks - 1));
    case GossipGraph::complete:
      break;
  }
  return ranks * others;
}

}  // namespace

std::uint64_t send_count(const Program& program) {
  return std::visit([](const auto& kind) { return count(kind); }, program.kind());
}

std::optional<std::uint64_t> expected_sends(Collective collective, Algorithm algorithm,
                                            const ProgramRanks& ranks) {
  const Rank servers = ranks.ranks / ranks.gpus;
  switch (algorithm) {
    case Algorithm::ring:
      return expected_ring(collective, ranks);
    case Algorithm::tree:
      return count(RailTreesProgram{
          servers, ranks.gpus, segments_for(2 * (depth_of_double_tree(servers) + ranks.gpus - 1))});
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return expected_nvls(collective, ranks);
    case Algorithm::pat:
      return count(BruckProgram{ranks.ranks});
    case Algorithm::pairwise:
      return count(PairwiseProgram{ranks.ranks, ranks.gpus});
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> expected_sends(OtherProgram program, const ProgramRanks& ranks,
                                            const ProgramDetails& details) {
  const Rank servers = ranks.ranks / ranks.gpus;
  const Rank n = ranks.ranks;
  switch (program) {
    case OtherProgram::halving_doubling:
      return count(HalvingDoublingProgram{std::bit_floor(n)});
    case OtherProgram::hierarchical:
      return count(HierarchicalProgram{servers, ranks.gpus});
    case OtherProgram::two_shot:
      return count(TwoShotProgram{n});
    case OtherProgram::bruck:
      return count(BruckProgram{n});
    case OtherProgram::pxn:
      return count(PxnProgram{servers, ranks.gpus});
    case OtherProgram::parameter_server:
      return details.servers == 0
                 ? count(ParameterServerProgram{n, n, true})
                 : count(ParameterServerProgram{n - details.servers, details.servers, false});
    case OtherProgram::gossip:
      return expected_gossip(n, details);
    case OtherProgram::sparse_all_gatherv:
      return (servers > 1 ? ranks.gpus : 1) * of_ring(n, Outcome::gathered);
    case OtherProgram::sharp:  // a chain in every server, at least one switch above it
      return of_trees(ranks.gpus, wide(n) + 1, segments_for(2 * ranks.gpus));
    case OtherProgram::packed_trees:
      return expected_trees(ranks, details.collective.value_or(Collective::all_reduce));
  }
  return std::nullopt;
}

}  // namespace payoff::sim
