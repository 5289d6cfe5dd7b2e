// SPDX-License-Identifier: Apache-2.0
#include "sim/tree_programs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/grouped_ranks.hpp"
#include "sim/mesh_paths.hpp"

namespace payoff::sim {
namespace {

using ServerRanks = std::vector<std::vector<Rank>>;

// By the hops that a part passes, which are not all steps.
template <class Kind>
LaidProgram in_segments(Kind kind, std::uint32_t hops) {
  kind.segments = 1;
  Program whole(kind);
  kind.segments = segments_for(hops);
  return {Program(std::move(kind)), std::move(whole), {}};
}

// By the servers of a regular topology, each as often as it has ranks; a user's own graph is one.
ServerRanks by_server(const std::vector<Rank>& ranks, const Topology& topology,
                      const TopologyGraph& graph) {
  const auto* shape = std::get_if<RegularTopology>(&topology.shape);
  const auto gpus = shape != nullptr ? static_cast<std::uint32_t>(shape->server.gpus)
                                     : std::numeric_limits<std::uint32_t>::max();
  return grouped_ranks(ranks, [&](Rank rank) { return graph.gpu_of_rank[rank] / gpus; });
}

// Whether one switch has a link to each of them and one from each.
bool share_switch(const LinkGraph& links, const std::vector<Rank>& ranks) {
  for (const Edge& edge : links.out(links.gpu(ranks.front()))) {
    const GraphVertexKind kind = links.vertices()[edge.to].kind;
    const bool is_switch =
        kind == GraphVertexKind::fabric_switch || kind == GraphVertexKind::router;
    if (is_switch && std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
          const VertexId gpu = links.gpu(rank);
          return links.find(gpu, edge.to) && links.find(edge.to, gpu);
        })) {
      return true;
    }
  }
  return false;
}

bool on_one_switch(const Topology& topology, const TopologyGraph& graph,
                   const std::vector<Rank>& ranks) {
  const auto* shape = std::get_if<RegularTopology>(&topology.shape);
  const bool is_network = shape != nullptr && shape->server.gpus == 1 &&
                          std::holds_alternative<SingleSwitch>(shape->network);
  return is_network || share_switch(graph.links, ranks);
}

// From rank 0 in two hops: every other rank passes its part on to the rest. One way a switch needs
// no more of a link than the buffer.
TreePacking trees_from_first(Rank ranks) {
  TreePacking packing;
  for (Rank via = 1; via < ranks; ++via) {
    std::vector<VertexId> parent(ranks, via);
    parent[0] = parent[via] = 0;
    packing.trees.push_back({std::move(parent), Bandwidth{1}});
    packing.rate += Bandwidth{1};
  }
  return packing;
}

LaidOrReason in_one_server(Collective collective, const ProgramRanks& ranks,
                           const Topology& topology, const TopologyGraph& graph,
                           const std::vector<Rank>& server) {
  const Outcome outcome = outcome_of(collective);
  const bool down_only = outcome == Outcome::broadcast;
  const auto mesh = small_mesh(ranks, topology, graph);
  // A sum goes up against the links of a broadcast.
  if (mesh && (down_only || all_reduce_bound(*mesh) > Bandwidth{})) {
    const TreeUse use = down_only ? TreeUse::broadcast : TreeUse::all_reduce;
    TreesProgram trees{pack_few(*mesh, 0, use), 1, outcome};
    const std::uint32_t hops = Program(trees).steps();
    return in_segments(std::move(trees), hops);
  }
  if (on_one_switch(topology, graph, server)) {
    // Rates say only what every tree has of the buffer: all alike.
    return in_segments(
        TreesProgram{outcome == Outcome::all_reduced
                         ? one_hop_trees(ranks.ranks, Bandwidth{1}, TreeUse::all_reduce)
                         : trees_from_first(ranks.ranks),
                     1, outcome},
        2);
  }
  return mesh ? "sums go up a tree and come back: links in both directions do not join all GPUs"
              : "trees are packed on a switch, or where links join 3 to " +
                    std::to_string(most_searched_mesh) + " GPUs directly";
}

// Of one server, from every GPU of it, in numbers of its own.
using TreesOfRoots = std::vector<TreePacking>;

bool are_alike(const LinkGraph& a, const LinkGraph& b) {
  return a.ranks() == b.ranks() && std::equal(a.edges().begin(), a.edges().end(), b.edges().begin(),
                                              b.edges().end(), [](const Edge& x, const Edge& y) {
                                                return x.from == y.from && x.to == y.to &&
                                                       x.capacity == y.capacity;
                                              });
}

// Servers with the same links have the same trees: they are packed once.
class ServerTrees {
 public:
  ServerTrees(const Topology& topology, const TopologyGraph& graph)
      : topology_(topology), graph_(graph) {}

  std::variant<TreesOfRoots, std::string> of(const std::vector<Rank>& server) {
    const auto gpus = static_cast<Rank>(server.size());
    if (gpus == 1 || on_one_switch(topology_, graph_, server)) {
      TreesOfRoots stars(gpus);
      for (Rank root = 0; root < gpus; ++root) {
        stars[root] = {root, {{std::vector<VertexId>(gpus, root), Bandwidth{1}}}, Bandwidth{1}};
      }
      return stars;
    }
    const auto mesh = gpus <= most_searched_mesh ? mesh_of(graph_.links, server) : std::nullopt;
    if (!mesh || all_reduce_bound(*mesh) <= Bandwidth{}) {
      return "trees are packed on the switches of servers, or where links join up to " +
             std::to_string(most_searched_mesh) + " GPUs of each directly, both ways";
    }
    LinkGraph links = both_ways(*mesh);
    for (const auto& [known, trees] : packed_) {
      if (are_alike(known, links)) {
        return trees;
      }
    }
    TreesOfRoots trees;
    for (VertexId root = 0; root < gpus; ++root) {
      trees.push_back(pack_few(links, root, TreeUse::broadcast));
    }
    packed_.emplace_back(std::move(links), trees);
    return trees;
  }

 private:
  const Topology& topology_;
  const TopologyGraph& graph_;
  std::vector<std::pair<LinkGraph, TreesOfRoots>> packed_;
};

// Where one tree ends and the next begins, of a share that is 1.
std::vector<double> ends_of(const TreePacking& packing) {
  std::vector<double> ends;
  Bandwidth sum{};
  for (const PackedTree& tree : packing.trees) {
    sum += tree.rate;
    ends.push_back(sum / packing.rate);
  }
  return ends;
}

// One share of the buffer, whose trees in every server are cut where those of another one are.
void add_parts(const ServerRanks& servers, const std::vector<const TreePacking*>& trees, Rank ranks,
               double share, ServerTreesProgram& program) {
  constexpr double rounding = 1e-9;
  std::vector<std::vector<double>> ends;
  std::vector<double> cuts;
  for (const TreePacking* packing : trees) {
    ends.push_back(ends_of(*packing));
    cuts.insert(cuts.end(), ends.back().begin(), ends.back().end());
  }
  std::sort(cuts.begin(), cuts.end());
  double begin = 0;
  for (const double cut : cuts) {
    if (cut - begin < rounding) {
      continue;
    }
    const double middle = (begin + cut) / 2;
    ServerTreesProgram::Part part{std::vector<Rank>(ranks), share * (cut - begin)};
    for (std::size_t s = 0; s < servers.size(); ++s) {
      const auto tree = std::upper_bound(ends[s].begin(), ends[s].end(), middle);
      const auto& parent = trees[s]->trees[static_cast<std::size_t>(tree - ends[s].begin())].parent;
      for (std::size_t i = 0; i < parent.size(); ++i) {
        part.parent[servers[s][i]] = servers[s][parent[i]];
      }
    }
    program.parts.push_back(std::move(part));
    begin = cut;
  }
}

// As many shares as the largest server has GPUs, each with another one as its root.
LaidOrReason across_servers(const ServerRanks& servers, Rank ranks, const Topology& topology,
                            const TopologyGraph& graph) {
  std::vector<TreesOfRoots> trees;
  ServerTrees packer(topology, graph);
  std::size_t shares = 0;
  for (const std::vector<Rank>& server : servers) {
    auto found = packer.of(server);
    if (const auto* reason = std::get_if<std::string>(&found)) {
      return *reason;
    }
    trees.push_back(std::get<TreesOfRoots>(std::move(found)));
    shares = std::max(shares, server.size());
  }
  if (shares == 1) {
    return "servers of one GPU have no links to pack trees on";
  }
  ServerTreesProgram program;
  for (std::size_t share = 0; share < shares; ++share) {
    std::vector<const TreePacking*> of_share;
    of_share.reserve(trees.size());
    for (const TreesOfRoots& server : trees) {
      of_share.push_back(&server[share % server.size()]);
    }
    add_parts(servers, of_share, ranks, 1.0 / static_cast<double>(shares), program);
  }
  const std::uint32_t hops = Program(program).steps() / 2 - 1;  // without those between servers
  return in_segments(std::move(program), hops);
}

}  // namespace

LaidOrReason packed_trees(Collective collective, const ProgramRanks& ranks,
                          const Topology& topology, const TopologyGraph& graph) {
  std::vector<Rank> all(ranks.ranks);
  std::iota(all.begin(), all.end(), Rank{0});
  const ServerRanks servers = by_server(all, topology, graph);
  if (servers.size() == 1 || on_one_switch(topology, graph, all)) {
    return in_one_server(collective, ranks, topology, graph, all);
  }
  if (collective != Collective::all_reduce) {
    return "across servers, packed trees are the three phases of an all-reduce only";
  }
  return across_servers(servers, ranks.ranks, topology, graph);
}

}  // namespace payoff::sim
