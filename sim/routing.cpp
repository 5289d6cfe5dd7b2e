// SPDX-License-Identifier: Apache-2.0
#include "sim/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

#include "model/split_mix.hpp"
#include "sim/invariant.hpp"
#include "sim/regular_routes.hpp"

namespace payoff::sim {
namespace {

std::uint64_t mixed(std::uint64_t x) { return SplitMix(x).next(); }

}  // namespace

Routing::Routing(const TopologyGraph& graph, Balance balance, std::uint64_t seed)
    : graph_(graph), balance_(balance), seed_(seed), shortest_(graph.links) {
  for (const Vertices& path : graph.routes) {
    prescribed_.insert_or_assign({path.front(), path.back()}, &path);
  }
}

std::uint64_t Routing::hash(Rank from, Rank to, std::uint64_t flow) const {
  return mixed(mixed(mixed(seed_ ^ from) ^ to) ^ flow);
}

std::uint32_t Routing::path_count(Rank from, Rank to) const {
  if (prescribed_.contains({graph_.links.gpu(from), graph_.links.gpu(to)})) {
    return 1;
  }
  return is_closed_form(from, to)
             ? route_count(*graph_.regular, graph_.gpu_of_rank[from], graph_.gpu_of_rank[to])
             : 0;
}

// Between GPUs: places after them are switches.
bool Routing::is_closed_form(Rank from, Rank to) const {
  return graph_.regular && std::max(from, to) < graph_.gpu_of_rank.size();
}

std::optional<Routing::Vertices> Routing::known_path(Rank from, Rank to, std::uint32_t choice) {
  const auto own = prescribed_.find({graph_.links.gpu(from), graph_.links.gpu(to)});
  if (own != prescribed_.end()) {
    return *own->second;
  }
  if (!is_closed_form(from, to)) {
    return std::nullopt;
  }
  Vertices path =
      sim::route(*graph_.regular, graph_.gpu_of_rank[from], graph_.gpu_of_rank[to], choice);
  return path.empty() ? std::nullopt : std::optional(std::move(path));
}

Routing::Vertices Routing::searched(VertexId from, VertexId to, std::uint64_t hash) {
  Vertices path{from};
  while (path.back() != to) {
    const std::vector<EdgeId> next = shortest_.first_edges(path.back(), to);
    PAYOFF_INVARIANT(!next.empty(), "a route is asked for between ranks that are not connected");
    hash = mixed(hash);
    path.push_back(graph_.links.edges()[next[hash % next.size()]].to);
  }
  return path;
}

std::vector<EdgeId> Routing::edges_of(const Vertices& path) const {
  std::vector<EdgeId> edges;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto edge = graph_.links.find(path[i - 1], path[i]);
    PAYOFF_INVARIANT(edge.has_value(), "a route takes a link that is not there");
    edges.push_back(*edge);
  }
  return edges;
}

// Level by level: a vertex passes on, in proportion to the capacities, what reached it.
std::vector<EdgeShare> Routing::spread_searched(VertexId from, VertexId to) {
  std::map<std::pair<std::uint32_t, VertexId>, double, std::greater<>> reached;
  std::vector<EdgeShare> result;
  reached[{shortest_.costs_to(to)[from], from}] = 1;
  while (!reached.empty() && reached.begin()->first.second != to) {
    const auto [place, share] = *reached.begin();
    reached.erase(reached.begin());
    const std::vector<EdgeId> next = shortest_.first_edges(place.second, to);
    PAYOFF_INVARIANT(!next.empty(), "a route is asked for between ranks that are not connected");
    Bandwidth together{};
    for (const EdgeId edge : next) {
      together += graph_.links.edges()[edge].capacity;
    }
    for (const EdgeId id : next) {
      const Edge& edge = graph_.links.edges()[id];
      const double part = share * (edge.capacity / together);
      result.push_back({id, part});
      reached[{place.first - edge.cost(), edge.to}] += part;
    }
  }
  return result;
}

// Each path takes as much as the narrowest of the links that are not on all of them.
std::vector<EdgeShare> Routing::spread(Rank from, Rank to) {
  const std::uint32_t count = path_count(from, to);
  std::vector<std::vector<EdgeId>> paths;
  std::map<EdgeId, std::uint32_t> times_taken;
  for (std::uint32_t choice = 0; choice < count; ++choice) {
    const auto path = known_path(from, to, choice);
    if (!path) {
      break;
    }
    paths.push_back(edges_of(*path));
    for (const EdgeId edge : paths.back()) {
      ++times_taken[edge];
    }
  }
  if (paths.empty()) {
    return spread_searched(graph_.links.gpu(from), graph_.links.gpu(to));
  }
  std::map<EdgeId, double> taken;
  double together = 0;
  for (const std::vector<EdgeId>& path : paths) {
    double narrowest = count > 1 ? std::numeric_limits<double>::infinity() : 1.0;
    for (const EdgeId edge : path) {
      if (times_taken[edge] < count) {
        narrowest = std::min(narrowest, graph_.links.edges()[edge].capacity.si);
      }
    }
    together += narrowest;
    for (const EdgeId edge : path) {
      taken[edge] += narrowest;
    }
  }
  std::vector<EdgeShare> result;
  result.reserve(taken.size());
  for (const auto& [edge, share] : taken) {
    result.push_back({edge, share / together});
  }
  return result;
}

std::vector<EdgeShare> Routing::route(Rank from, Rank to, std::uint64_t flow) {
  if (from == to) {
    return {};
  }
  if (balance_ == Balance::ideal) {
    return spread(from, to);
  }
  const std::uint64_t code = hash(from, to, flow);
  const std::uint32_t paths = std::max(1U, path_count(from, to));
  auto path = known_path(from, to, static_cast<std::uint32_t>(code % paths));
  if (!path) {
    path = searched(graph_.links.gpu(from), graph_.links.gpu(to), code);
  }
  const std::vector<EdgeId> edges = edges_of(*path);
  std::vector<EdgeShare> result;
  result.reserve(edges.size());
  for (const EdgeId edge : edges) {
    result.push_back({edge, 1.0});
  }
  return result;
}

// With ideal balance the longest of the paths that are taken. Edges of several paths come in no
// order in which one pass would do.
Seconds Routing::latency(Rank from, Rank to, std::uint64_t flow) {
  const std::vector<EdgeShare> shares = route(from, to, flow);
  std::map<VertexId, Seconds> until;
  for (bool changed = true; changed;) {
    changed = false;
    for (const EdgeShare& share : shares) {
      const Edge& edge = graph_.links.edges()[share.edge];
      const Seconds date = until[edge.from] + edge.latency;
      Seconds& there = until[edge.to];
      changed = changed || date > there;
      there = std::max(there, date);
    }
  }
  return until[graph_.links.gpu(to)];
}

}  // namespace payoff::sim
