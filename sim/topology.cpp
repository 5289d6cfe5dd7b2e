// SPDX-License-Identifier: Apache-2.0
#include "sim/topology.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "model/append_problems.hpp"
#include "sim/grid.hpp"

namespace payoff::sim {
namespace {

LinkClass class_of(GraphVertexKind a, GraphVertexKind b) {
  const auto is = [&](GraphVertexKind kind) { return a == kind || b == kind; };
  if (is(GraphVertexKind::nic)) {
    return LinkClass::nic;
  }
  if (is(GraphVertexKind::pcie_switch)) {
    return LinkClass::pcie;
  }
  if (is(GraphVertexKind::socket)) {
    return LinkClass::socket;
  }
  return is(GraphVertexKind::router) ? LinkClass::network : LinkClass::fabric;
}

// GPUs of a mesh and of the user's graph pass on what is for others, by a kernel of theirs.
detail::GraphParts parts_of(const UserGraph& graph) {
  detail::GraphParts parts;
  for (const UserGraph::Vertex& vertex : graph.vertices) {
    parts.vertices.push_back({vertex.name, vertex.kind, true});
  }
  for (const UserGraph::Link& link : graph.links) {
    const auto from = static_cast<VertexId>(link.from);
    const auto to = static_cast<VertexId>(link.to);
    const LinkClass link_class = class_of(graph.vertices[from].kind, graph.vertices[to].kind);
    parts.edges.push_back({from, to, link.rate.bandwidth, link.rate.latency, link_class});
    if (link.both_ways) {
      parts.edges.push_back({to, from, link.rate.bandwidth, link.rate.latency, link_class});
    }
  }
  return parts;
}

// With the routes that its user prescribes.
detail::GraphParts add_graph(const UserGraph& own, TopologyGraph& graph) {
  for (const std::vector<std::size_t>& route : own.routes) {
    if (!route.empty()) {
      graph.routes.emplace_back(route.begin(), route.end());
    }
  }
  return parts_of(own);
}

detail::GraphParts add_regular(const RegularTopology& regular, TopologyGraph& graph) {
  detail::GraphParts parts;
  const RegularLayout& layout = graph.regular.emplace(regular);
  detail::add_servers(layout, parts);
  detail::add_network(layout, parts);
  return parts;
}

// Counted server by server; of a user's graph they are the first vertices.
std::vector<VertexId> vertices_of_gpus(const Topology& topology, const TopologyGraph& graph) {
  std::vector<VertexId> gpus(topology.gpus());
  std::iota(gpus.begin(), gpus.end(), VertexId{0});
  for (std::uint32_t i = 0; i < gpus.size() && graph.regular; ++i) {
    const RegularLayout& layout = *graph.regular;
    gpus[i] = layout.gpu(i / layout.gpus_per_server(), i % layout.gpus_per_server());
  }
  return gpus;
}

// GPUs of a mesh pass on what comes for another rail, which may be shorter than the spines.
bool takes_rail_of_peer(const RegularLayout& layout) {
  const auto* tree = std::get_if<FatTree>(&layout.topology().network);
  return tree != nullptr && tree->rails && layout.nics() > 1 &&
         layout.server().fabric == ServerFabric::mesh;
}

std::vector<bool> reached_from(const LinkGraph& links, VertexId start, bool backwards) {
  std::vector<std::vector<VertexId>> before;
  if (backwards) {
    before.resize(links.vertices().size());
    for (const Edge& edge : links.edges()) {
      before[edge.to].push_back(edge.from);
    }
  }
  std::vector<bool> reached(links.vertices().size());
  std::vector<VertexId> open{start};
  reached[start] = true;
  const auto visit = [&](VertexId v) {
    if (!reached[v]) {
      reached[v] = true;
      open.push_back(v);
    }
  };
  while (!open.empty()) {
    const VertexId at = open.back();
    open.pop_back();
    if (at != start && !links.vertices()[at].forwards) {
      continue;
    }
    if (backwards) {
      std::for_each(before[at].begin(), before[at].end(), visit);
    } else {
      for (const Edge& edge : links.out(at)) {
        visit(edge.to);
      }
    }
  }
  return reached;
}

std::string described(const LinkGraph& links, Rank rank) {
  return "rank " + std::to_string(rank) + " (" + links.vertices()[links.gpu(rank)].name + ")";
}

std::string from_to(const std::string& from, const std::string& to) {
  return "no way leads from " + from + " to " + to;
}

// Runs of ranks that something cuts off, in one line each. What is more than anybody reads is
// counted.
class CutOff {
 public:
  CutOff(const LinkGraph& links, std::size_t most) : links_(links), most_(most) {}

  template <class Is, class Say>
  void add(Is is, Say say) {
    const auto ranks = static_cast<Rank>(links_.ranks());
    for (Rank first = 1; first < ranks; ++first) {
      Rank end = first;
      while (end < ranks && is(end)) {
        ++end;
      }
      if (end == first) {
        continue;
      }
      if (problems_.size() < most_) {
        problems_.push_back({"", say(described(first, end - 1)), {}});
      } else {
        ++untold_;
      }
      first = end;
    }
  }
  [[nodiscard]] bool found() const { return !problems_.empty(); }
  [[nodiscard]] Problems take() {
    if (untold_ > 0) {
      problems_.push_back(
          {"", std::to_string(untold_) + " more such runs of ranks are cut off", {}});
    }
    return std::move(problems_);
  }

 private:
  [[nodiscard]] std::string described(Rank first, Rank last) const {
    const auto name = [&](Rank rank) { return links_.vertices()[links_.gpu(rank)].name; };
    return first == last ? sim::described(links_, first)
                         : "ranks " + std::to_string(first) + " to " + std::to_string(last) + " (" +
                               name(first) + " to " + name(last) + ")";
  }

  const LinkGraph& links_;
  std::size_t most_;
  std::size_t untold_{};
  Problems problems_;
};

// Which GPUs cannot reach which: one Problem for each run of ranks that is cut off.
Problems check_connected(const LinkGraph& links) {
  constexpr std::size_t most_told = 20;
  const auto ranks = static_cast<Rank>(links.ranks());
  CutOff cut_off(links, most_told);
  const std::vector<bool> there = reached_from(links, links.gpu(0), false);
  const std::vector<bool> back = reached_from(links, links.gpu(0), true);
  cut_off.add([&](Rank r) { return !there[links.gpu(r)]; },
              [&](const std::string& others) { return from_to(described(links, 0), others); });
  cut_off.add([&](Rank r) { return there[links.gpu(r)] && !back[links.gpu(r)]; },
              [&](const std::string& others) { return from_to(others, described(links, 0)); });
  // Two ranks that both reach the first one need not reach each other where GPUs pass nothing on.
  constexpr Rank most_searched = 4096;
  const bool all_reach_first = !cut_off.found();
  for (Rank r = 1; r < ranks && ranks <= most_searched && all_reach_first; ++r) {
    const std::vector<bool> reached = reached_from(links, links.gpu(r), false);
    cut_off.add([&](Rank to) { return !reached[links.gpu(to)]; },
                [&](const std::string& others) { return from_to(described(links, r), others); });
  }
  return cut_off.take();
}

// Links between the same two are one: together they may carry more than the solver can count.
void check_capacities(const LinkGraph& links, Problems& problems) {
  const std::vector<Edge>& edges = links.edges();
  const auto wide = std::find_if(edges.begin(), edges.end(), [](const Edge& edge) {
    return edge.capacity > Bandwidth{} && !to_rate(edge.capacity);
  });
  if (wide != edges.end()) {
    const auto edge = static_cast<EdgeId>(wide - edges.begin());
    problems.push_back({"", "`" + links.edge_name(edge) + "` carries more than can be simulated",
                        "all links between two together: at most 140 PB/s"});
  }
}

}  // namespace

void detail::GraphParts::join(VertexId a, VertexId b, const LinkRate& rate, LinkClass link_class) {
  edges.push_back({a, b, rate.bandwidth, rate.latency, link_class});
  edges.push_back({b, a, rate.bandwidth, rate.latency, link_class});
}

BuiltTopology build(const Topology& topology) {
  BuiltTopology built;
  TopologyGraph graph;
  const auto* own = std::get_if<UserGraph>(&topology.shape);
  detail::GraphParts parts = own != nullptr
                                 ? add_graph(*own, graph)
                                 : add_regular(std::get<RegularTopology>(topology.shape), graph);
  const std::vector<VertexId> gpus = vertices_of_gpus(topology, graph);
  const bool failed = detail::apply_faults(topology.faults, parts, built.problems);
  if (failed || (graph.regular && takes_rail_of_peer(*graph.regular))) {
    graph.regular.reset();
  }
  graph.gpu_of_rank.resize(gpus.size());
  std::iota(graph.gpu_of_rank.begin(), graph.gpu_of_rank.end(), 0U);
  std::copy(topology.rank_order.begin(), topology.rank_order.end(), graph.gpu_of_rank.begin());
  std::vector<VertexId> ranks;
  ranks.reserve(gpus.size());
  for (const std::uint32_t gpu : graph.gpu_of_rank) {
    ranks.push_back(gpus[gpu]);
  }
  graph.links = LinkGraph(std::move(parts.vertices), std::move(parts.edges), std::move(ranks));
  const bool sparse_mesh = graph.regular && graph.regular->server().fabric == ServerFabric::mesh;
  if (!graph.regular || sparse_mesh) {  // the others are connected by construction
    append(built.problems, check_connected(graph.links));
  }
  check_capacities(graph.links, built.problems);
  if (built.problems.empty()) {
    built.graph = std::move(graph);
  }
  return built;
}

Problems find_in_links(const Topology& topology, KnownParts known) {
  if (known != KnownParts::all) {
    return detail::find_faults_in_servers(topology, known == KnownParts::servers);
  }
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  const bool is_connected =
      regular != nullptr && topology.faults.empty() && regular->server.fabric != ServerFabric::mesh;
  return is_connected ? Problems{} : build(topology).problems;
}

}  // namespace payoff::sim
