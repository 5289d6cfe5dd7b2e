// SPDX-License-Identifier: Apache-2.0
#include "sim/mesh_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/tree_packing.hpp"

namespace payoff::sim {
namespace {

// Of servers, whose GPUs links join directly.
bool has_meshes(const Topology& topology) {
  const auto* shape = std::get_if<RegularTopology>(&topology.shape);
  return shape != nullptr && shape->server.fabric == ServerFabric::mesh;
}

Bandwidth narrowest(const LinkGraph& mesh) {
  Bandwidth least{std::numeric_limits<double>::infinity()};
  for (const Edge& edge : mesh.edges()) {
    least = std::min(least, edge.capacity);
  }
  return least;
}

bool joins_all_alike(const LinkGraph& mesh) {
  const std::size_t n = mesh.ranks();
  const Bandwidth each = narrowest(mesh);
  return mesh.edges().size() == n * (n - 1) &&
         std::all_of(mesh.edges().begin(), mesh.edges().end(),
                     [&](const Edge& edge) { return edge.capacity == each; });
}

// k, k + 1, k - 1, k + 2, k - 2 ... k + n / 2: no two of its differences are alike, so that the n
// paths use every link once in each direction.
ServerPaths zigzags(Rank n) {
  ServerPaths paths(n);
  for (Rank k = 0; k < n; ++k) {
    for (Rank i = 0; i < n; ++i) {
      const Rank away = (i + 1) / 2;
      paths[k].push_back((k + (i % 2 == 1 ? away : n - away)) % n);
    }
  }
  return paths;
}

// For every GPU a circle that is cut open there. The paths end at different GPUs, and no circle is
// cut more often than it has to be.
class Cuts {
 public:
  explicit Cuts(std::vector<std::vector<Rank>> circles)
      : circles_(std::move(circles)), used_(circles_.size()) {}

  // Further ones: circles that have been cut come last.
  void add(ServerPaths& paths) {
    const std::size_t n = circles_.front().size();
    const std::size_t all = paths.size() + n;
    most_ = (all + circles_.size() - 1) / circles_.size();
    for (chosen_.clear(); chosen_.empty(); ++most_) {
      ended_.assign(n, false);
      if (!choose(0)) {
        chosen_.clear();
      }
    }
    for (Rank k = 0; k < n; ++k) {
      std::vector<Rank> path = circles_[chosen_[k]];
      std::rotate(path.begin(), std::find(path.begin(), path.end(), k), path.end());
      paths.push_back(std::move(path));
    }
  }

 private:
  [[nodiscard]] Rank end_of(std::size_t circle, Rank first) const {
    const std::vector<Rank>& order = circles_[circle];
    const auto at = std::find(order.begin(), order.end(), first);
    return at == order.begin() ? order.back() : *(at - 1);
  }

  bool choose(Rank k) {
    if (k == ended_.size()) {
      return true;
    }
    for (std::size_t i = 0; i < circles_.size(); ++i) {
      const std::size_t circle = (k + i) % circles_.size();
      const Rank end = end_of(circle, k);
      if (used_[circle] >= most_ || ended_[end]) {
        continue;
      }
      ++used_[circle];
      ended_[end] = true;
      chosen_.push_back(circle);
      if (choose(k + 1)) {
        return true;
      }
      chosen_.pop_back();
      ended_[end] = false;
      --used_[circle];
    }
    return false;
  }

  std::vector<std::vector<Rank>> circles_;
  std::vector<std::size_t> used_;
  std::size_t most_{};
  std::vector<bool> ended_;
  std::vector<std::size_t> chosen_;
};

// Of the server that has most of its links: what others lack makes them late, not differently laid.
std::optional<LinkGraph> fullest_mesh(const ProgramRanks& ranks, const TopologyGraph& graph) {
  std::vector<Rank> fullest;
  Bandwidth most{};
  for (Rank first = 0; first < ranks.ranks; first += ranks.gpus) {
    std::vector<Rank> server(ranks.gpus);
    std::iota(server.begin(), server.end(), first);
    Bandwidth all{};
    for (const Rank a : server) {
      for (const Rank b : server) {
        const auto edge = graph.links.find(graph.links.gpu(a), graph.links.gpu(b));
        all += edge ? graph.links.edges()[*edge].capacity : Bandwidth{};
      }
    }
    if (all > most) {
      most = all;
      fullest = std::move(server);
    }
  }
  return fullest.empty() ? std::nullopt : mesh_of(graph.links, fullest);
}

}  // namespace

std::optional<LinkGraph> small_mesh(const ProgramRanks& ranks, const Topology& topology,
                                    const TopologyGraph& graph) {
  const bool may_be = std::holds_alternative<UserGraph>(topology.shape) ||
                      (ranks.gpus == ranks.ranks && has_meshes(topology));
  if (!may_be || ranks.ranks < 3 || ranks.ranks > most_searched_mesh) {
    return std::nullopt;
  }
  std::vector<Rank> all(ranks.ranks);
  std::iota(all.begin(), all.end(), Rank{0});
  return mesh_of(graph.links, all);
}

std::vector<std::vector<Rank>> mesh_rings(const LinkGraph& mesh) {
  const Bandwidth unit = narrowest(mesh);
  std::vector<std::vector<Rank>> orders = rings(mesh, unit);
  // Four GPUs, each joined to all, have one circle with whole links, and three with halves.
  constexpr std::size_t most_halved = 6;
  if (mesh.ranks() <= most_halved) {
    std::vector<std::vector<Rank>> halves = rings(mesh, unit / 2);
    if (halves.size() > 2 * orders.size()) {
      orders = std::move(halves);
    }
  }
  const std::size_t one_way = orders.size();
  for (std::size_t i = 0; i < one_way; ++i) {
    orders.emplace_back(orders[i].rbegin(), orders[i].rend());
  }
  return orders;
}

std::vector<std::vector<Rank>> server_rings(const ProgramRanks& ranks, const Topology& topology,
                                            const TopologyGraph& graph) {
  const bool may_be = has_meshes(topology) && ranks.gpus >= 3 && ranks.gpus <= most_searched_mesh;
  const auto mesh = may_be ? fullest_mesh(ranks, graph) : std::nullopt;
  return mesh ? mesh_rings(*mesh) : std::vector<std::vector<Rank>>{};
}

bool joins_pairs(const ProgramRanks& ranks, const Topology& topology, const TopologyGraph& graph) {
  return ranks.gpus > 1 && (has_meshes(topology) || small_mesh(ranks, topology, graph).has_value());
}

ServerPaths server_paths(PathUse use, const ProgramRanks& ranks, const Topology& topology,
                         const TopologyGraph& graph) {
  if (!has_meshes(topology) || ranks.gpus < 3) {
    return {};
  }
  const auto mesh = fullest_mesh(ranks, graph);
  if (!mesh) {
    return {};
  }
  if (ranks.gpus % 2 == 0 && joins_all_alike(*mesh)) {
    return zigzags(ranks.gpus);
  }
  if (ranks.gpus > most_searched_mesh) {
    return {};
  }
  std::vector<std::vector<Rank>> circles = mesh_rings(*mesh);
  if (circles.empty()) {
    return {};
  }
  Cuts cuts(std::move(circles));
  ServerPaths paths;
  cuts.add(paths);
  if (use == PathUse::trees) {
    cuts.add(paths);
  }
  return paths;
}

}  // namespace payoff::sim
