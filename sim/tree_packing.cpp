// SPDX-License-Identifier: Apache-2.0
#include "sim/tree_packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "sim/arborescence.hpp"
#include "sim/invariant.hpp"
#include "sim/max_flow.hpp"

namespace payoff::sim {
namespace {

using Tree = std::vector<EdgeId>;  // the edge into every vertex

// The edges on which a tree puts its rate.
class Footprint {
 public:
  Footprint(const LinkGraph& mesh, TreeUse use) {
    for (EdgeId e = 0; e < mesh.edges().size(); ++e) {
      const Edge& edge = mesh.edges()[e];
      back_.push_back(use == TreeUse::broadcast ? no_edge : mesh.find(edge.to, edge.from).value());
    }
  }

  template <class Visit>
  void each(const Tree& tree, Visit visit) const {
    for (const EdgeId edge : tree) {
      if (edge != no_edge) {
        visit(edge);
        if (back_[edge] != no_edge) {
          visit(back_[edge]);
        }
      }
    }
  }
  [[nodiscard]] double cost(EdgeId edge, const std::vector<double>& lengths) const {
    return lengths[edge] + (back_[edge] == no_edge ? 0.0 : lengths[back_[edge]]);
  }

 private:
  std::vector<EdgeId> back_;
};

struct WeightedTrees {
  std::map<Tree, double> rates;  // bytes per second
  double rate = 0;
};

// Trees are taken cheapest first by lengths that grow with what a link has carried; in the end all
// of them are scaled to what the fullest link allows.
WeightedTrees weigh_trees(const LinkGraph& mesh, VertexId root, const Footprint& footprint,
                          double epsilon) {
  const auto m = static_cast<double>(mesh.edges().size());
  const double delta = (1 + epsilon) * std::pow((1 + epsilon) * m, -1 / epsilon);
  std::vector<double> lengths;
  std::vector<double> costs(mesh.edges().size());
  std::vector<double> load(mesh.edges().size());
  lengths.reserve(mesh.edges().size());
  for (const Edge& edge : mesh.edges()) {
    lengths.push_back(delta / edge.capacity.si);
  }
  double dual = delta * m;
  WeightedTrees found;
  while (dual < 1) {
    for (EdgeId e = 0; e < costs.size(); ++e) {
      costs[e] = footprint.cost(e, lengths);
    }
    const auto tree = cheapest_arborescence(mesh, root, costs);
    PAYOFF_INVARIANT(tree.has_value(), "a mesh whose trees are packed is not connected");
    double narrowest = std::numeric_limits<double>::infinity();
    footprint.each(*tree,
                   [&](EdgeId e) { narrowest = std::min(narrowest, mesh.edges()[e].capacity.si); });
    footprint.each(*tree, [&](EdgeId e) {
      const double capacity = mesh.edges()[e].capacity.si;
      dual += epsilon * narrowest * lengths[e];
      lengths[e] *= 1 + epsilon * narrowest / capacity;
      load[e] += narrowest;
    });
    found.rates[*tree] += narrowest;
    found.rate += narrowest;
  }
  double fullest = 0;
  for (EdgeId e = 0; e < load.size(); ++e) {
    fullest = std::max(fullest, load[e] / mesh.edges()[e].capacity.si);
  }
  for (auto& [tree, rate] : found.rates) {
    rate /= fullest;
  }
  found.rate /= fullest;
  return found;
}

TreePacking packing_of(const LinkGraph& mesh, VertexId root, const std::map<Tree, double>& trees) {
  TreePacking packing{root, {}, {}};
  for (const auto& [tree, rate] : trees) {
    PackedTree packed{{}, {rate}};
    for (const EdgeId edge : tree) {
      packed.parent.push_back(edge == no_edge ? root : mesh.edges()[edge].from);
    }
    packing.trees.push_back(std::move(packed));
    packing.rate += packing.trees.back().rate;
  }
  return packing;
}

// Which trees fit beside each other, each with one unit of its links: depth first, with the
// heaviest trees of the fractional packing first and a tree that fits several times at once.
class UnitPacking {
 public:
  UnitPacking(const LinkGraph& mesh, const Footprint& footprint, const WeightedTrees& trees,
              double unit)
      : footprint_(footprint), unit_(unit) {
    for (const Edge& edge : mesh.edges()) {
      room_.push_back(static_cast<int>(std::floor(edge.capacity.si / unit + 1e-6)));
    }
    for (const auto& [tree, rate] : trees.rates) {
      candidates_.emplace_back(rate, &tree);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
  }

  // The trees, when `wanted` of them were found within the budget of the search.
  [[nodiscard]] std::optional<std::map<Tree, double>> search(int wanted) {
    return place(0, wanted) ? std::optional(taken_) : std::nullopt;
  }

 private:
  bool fits(const Tree& tree) const {
    bool free = true;
    footprint_.each(tree, [&](EdgeId e) { free = free && room_[e] > 0; });
    return free;
  }

  void take(const Tree& tree, int sign) {
    footprint_.each(tree, [&](EdgeId e) { room_[e] -= sign; });
    double& rate = taken_[tree];
    rate += sign * unit_;
    if (rate <= unit_ / 2) {
      taken_.erase(tree);
    }
  }

  bool place(std::size_t first, int wanted) {
    if (wanted == 0) {
      return true;
    }
    for (std::size_t i = first; i < candidates_.size() && budget_ > 0; ++i) {
      --budget_;
      const Tree& tree = *candidates_[i].second;
      if (fits(tree)) {
        take(tree, 1);
        if (place(i, wanted - 1)) {
          return true;
        }
        take(tree, -1);
      }
    }
    return false;
  }

  const Footprint& footprint_;
  double unit_;
  std::vector<int> room_;
  std::vector<std::pair<double, const Tree*>> candidates_;
  std::map<Tree, double> taken_;
  int budget_ = 200'000;
};

}  // namespace

std::optional<LinkGraph> mesh_of(const LinkGraph& links, std::span<const Rank> ranks) {
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
  std::vector<VertexId> gpus;
  for (const Rank rank : ranks) {
    gpus.push_back(static_cast<VertexId>(vertices.size()));
    vertices.push_back(links.vertices()[links.gpu(rank)]);
    vertices.back().forwards = true;  // a tree passes through GPUs
  }
  for (VertexId a = 0; a < gpus.size(); ++a) {
    for (VertexId b = 0; b < gpus.size(); ++b) {
      if (const auto edge = links.find(links.gpu(ranks[a]), links.gpu(ranks[b]))) {
        edges.push_back(links.edges()[*edge]);
        edges.back().from = a;
        edges.back().to = b;
      }
    }
  }
  LinkGraph mesh(std::move(vertices), std::move(edges), std::move(gpus));
  const std::vector<double> costs(mesh.edges().size(), 1.0);
  for (VertexId root = 0; root < ranks.size(); ++root) {
    if (!cheapest_arborescence(mesh, root, costs)) {
      return std::nullopt;
    }
  }
  return mesh;
}

LinkGraph both_ways(const LinkGraph& mesh) {
  std::vector<Edge> edges;
  for (const Edge& edge : mesh.edges()) {
    if (const auto back = mesh.find(edge.to, edge.from)) {
      edges.push_back(edge);
      edges.back().capacity = std::min(edge.capacity, mesh.edges()[*back].capacity);
    }
  }
  std::vector<VertexId> gpus(mesh.ranks());
  std::iota(gpus.begin(), gpus.end(), VertexId{0});
  return {mesh.vertices(), std::move(edges), std::move(gpus)};
}

TreePacking pack_fractional(const LinkGraph& links, VertexId root, TreeUse use,
                            const PackingRules& rules) {
  const LinkGraph mesh = use == TreeUse::all_reduce ? both_ways(links) : links;
  return packing_of(mesh, root, weigh_trees(mesh, root, Footprint(mesh, use), rules.epsilon).rates);
}

TreePacking pack_few(const LinkGraph& links, VertexId root, TreeUse use,
                     const PackingRules& rules) {
  const LinkGraph mesh = use == TreeUse::all_reduce ? both_ways(links) : links;
  const Footprint footprint(mesh, use);
  const WeightedTrees found = weigh_trees(mesh, root, footprint, rules.epsilon);
  double narrowest = std::numeric_limits<double>::infinity();
  for (const Edge& edge : mesh.edges()) {
    narrowest = std::min(narrowest, edge.capacity.si);
  }
  constexpr int most_parts = 8;
  // Multiplicative weights end a little below the best, so one tree more may fit.
  const double hoped = found.rate / (1 - 2 * rules.epsilon);
  for (int parts = 1; parts <= most_parts; ++parts) {
    const double unit = narrowest / parts;
    const auto least = std::max(
        1, static_cast<int>(std::ceil(found.rate * (1 - rules.lost_fraction) / unit - 1e-6)));
    for (int wanted = static_cast<int>(hoped / unit + 1e-6); wanted >= least; --wanted) {
      if (const auto trees = UnitPacking(mesh, footprint, found, unit).search(wanted)) {
        return packing_of(mesh, root, *trees);
      }
    }
  }
  return packing_of(mesh, root, found.rates);
}

Bandwidth broadcast_bound(const LinkGraph& mesh, VertexId root) {
  MaxFlow flow(mesh);
  Bandwidth least{std::numeric_limits<double>::infinity()};
  for (VertexId v = 0; v < mesh.vertices().size(); ++v) {
    if (v != root) {
      least = std::min(least, flow.between(std::array{root}, std::array{v}));
    }
  }
  return least;
}

TreePacking one_hop_trees(Rank ranks, Bandwidth link, TreeUse use) {
  TreePacking packing;
  // A root sends its share to all others, and takes part in every other root's tree.
  const Bandwidth of_tree =
      link / static_cast<double>(ranks - 1) / (use == TreeUse::broadcast ? 1.0 : 2.0);
  for (Rank root = 0; root < ranks; ++root) {
    packing.trees.push_back({std::vector<VertexId>(ranks, root), of_tree});
    packing.rate += of_tree;
  }
  return packing;
}

Seconds three_phase_time(std::span<const TreePacking> servers, Bandwidth nics, Bytes size) {
  Seconds inside{};
  for (const TreePacking& server : servers) {
    inside = std::max(inside, size / server.rate);
  }
  const auto n = static_cast<double>(servers.size());
  return inside * 2.0 + size * (2 * (n - 1) / n) / nics;
}

}  // namespace payoff::sim
