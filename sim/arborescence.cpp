// SPDX-License-Identifier: Apache-2.0
#include "sim/arborescence.hpp"

#include <cstddef>

namespace payoff::sim {
namespace {

constexpr std::size_t none = SIZE_MAX;

// An edge of a contracted graph, and the edge one level below that it stands for.
struct Arc {
  std::size_t from{};
  std::size_t to{};
  double cost{};
  std::size_t below{};
};

struct Level {
  std::size_t size{};
  std::size_t root{};
  std::vector<Arc> arcs;
};

// The cheapest arc into every vertex; nothing if one has none.
std::optional<std::vector<std::size_t>> cheapest_into(const Level& level) {
  std::vector<std::size_t> best(level.size, none);
  for (std::size_t a = 0; a < level.arcs.size(); ++a) {
    const Arc& arc = level.arcs[a];
    if (arc.from != arc.to && arc.to != level.root &&
        (best[arc.to] == none || arc.cost < level.arcs[best[arc.to]].cost)) {
      best[arc.to] = a;
    }
  }
  for (std::size_t v = 0; v < level.size; ++v) {
    if (v != level.root && best[v] == none) {
      return std::nullopt;
    }
  }
  return best;
}

// Vertices of one circle get one number, all others one each. False: there is no circle.
bool number_circles(const Level& level, const std::vector<std::size_t>& best,
                    std::vector<std::size_t>& group, std::size_t& groups) {
  group.assign(level.size, none);
  groups = 0;
  std::vector<std::size_t> seen(level.size, none);
  for (std::size_t start = 0; start < level.size; ++start) {
    std::size_t at = start;
    while (at != level.root && seen[at] == none) {
      seen[at] = start;
      at = level.arcs[best[at]].from;
    }
    if (at == level.root || seen[at] != start || group[at] != none) {
      continue;
    }
    for (; group[at] == none; at = level.arcs[best[at]].from) {
      group[at] = groups;
    }
    ++groups;
  }
  const bool found = groups > 0;
  for (std::size_t& g : group) {
    g = g == none ? groups++ : g;
  }
  return found;
}

// Arcs of the tree, by vertex.
std::optional<std::vector<std::size_t>> solve(const Level& level) {
  auto best = cheapest_into(level);
  std::vector<std::size_t> group;
  std::size_t groups = 0;
  if (!best || !number_circles(level, *best, group, groups)) {
    return best;
  }
  Level above{groups, group[level.root], {}};
  for (std::size_t a = 0; a < level.arcs.size(); ++a) {
    const Arc& arc = level.arcs[a];
    if (group[arc.from] != group[arc.to] && arc.to != level.root) {
      // What entering here costs more than what it replaces.
      const double saved = level.arcs[(*best)[arc.to]].cost;
      above.arcs.push_back({group[arc.from], group[arc.to], arc.cost - saved, a});
    }
  }
  const auto chosen = solve(above);
  if (!chosen) {
    return std::nullopt;
  }
  // A circle is entered at one vertex, and keeps its arcs everywhere else.
  for (const std::size_t a : *chosen) {
    if (a != none) {
      const std::size_t entering = above.arcs[a].below;
      (*best)[level.arcs[entering].to] = entering;
    }
  }
  return best;
}

}  // namespace

std::optional<std::vector<EdgeId>> cheapest_arborescence(const LinkGraph& links, VertexId root,
                                                         std::span<const double> costs) {
  Level level{links.vertices().size(), root, {}};
  level.arcs.reserve(links.edges().size());
  for (std::size_t e = 0; e < links.edges().size(); ++e) {
    level.arcs.push_back({links.edges()[e].from, links.edges()[e].to, costs[e], e});
  }
  const auto tree = solve(level);
  if (!tree) {
    return std::nullopt;
  }
  std::vector<EdgeId> edges(tree->size(), no_edge);
  for (std::size_t v = 0; v < tree->size(); ++v) {
    edges[v] = v == root ? no_edge : static_cast<EdgeId>((*tree)[v]);
  }
  return edges;
}

}  // namespace payoff::sim
