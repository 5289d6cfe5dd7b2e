// SPDX-License-Identifier: Apache-2.0
#include "model/exchange_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "model/powers_of_two.hpp"
#include "model/split_mix.hpp"

namespace payoff {
namespace {

using Vertex = std::uint32_t;

// One of so many; they are few beside 2^64.
std::size_t draw_below(std::size_t count, SplitMix& draws) {
  return static_cast<std::size_t>(draws.next() % count);
}

using Edges = std::set<std::pair<Vertex, Vertex>>;  // one way

void join(Edges& edges, Vertex a, Vertex b) {
  if (a != b) {
    edges.insert({a, b});
    edges.insert({b, a});
  }
}

Neighbours listed(const Edges& edges, Vertex vertices) {
  Neighbours neighbours(vertices);
  for (const auto& [from, to] : edges) {
    neighbours[from].push_back(to);
  }
  return neighbours;
}

// Rows: the largest divisor that is no larger than their length.
Vertex torus_rows(Vertex vertices) {
  Vertex rows = 1;
  for (Vertex i = 2; i * i <= vertices; ++i) {
    rows = vertices % i == 0 ? i : rows;
  }
  return rows;
}

Edges torus(Vertex vertices) {
  const Vertex rows = torus_rows(vertices);
  const Vertex columns = vertices / rows;
  Edges edges;
  for (Vertex v = 0; v < vertices; ++v) {
    const Vertex row = v / columns;
    const Vertex column = v % columns;
    join(edges, v, row * columns + (column + 1) % columns);
    join(edges, v, (row + 1) % rows * columns + column);
  }
  return edges;
}

// A regular graph to start from: those up to degree / 2 away, and the opposite one.
Edges circulant(Vertex vertices, int degree) {
  Edges edges;
  for (Vertex v = 0; v < vertices; ++v) {
    for (Vertex away = 1; away <= static_cast<Vertex>(degree / 2); ++away) {
      join(edges, v, (v + away) % vertices);
    }
    if (degree % 2 != 0) {
      join(edges, v, (v + vertices / 2) % vertices);
    }
  }
  return edges;
}

// How far behind each vertex those are that it sends to, where all do alike.
std::vector<Vertex> distances_of(ExchangeShape shape, Vertex vertices) {
  std::vector<Vertex> distances;
  if (shape == ExchangeShape::ring && vertices > 2) {
    return {1, vertices - 1};
  }
  for (Vertex away = 1; away < vertices;
       away = shape == ExchangeShape::exponential ? 2 * away : away + 1) {
    distances.push_back(away);
  }
  return distances;
}

bool all_hear(const Neighbours& neighbours, Vertex& unheard) {
  std::vector<bool> reached(neighbours.size());
  std::vector<Vertex> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const Vertex v = open.back();
    open.pop_back();
    for (const Vertex next : neighbours[v]) {
      if (!reached[next]) {
        reached[next] = true;
        open.push_back(next);
      }
    }
  }
  const auto missing = std::find(reached.begin(), reached.end(), false);
  unheard = static_cast<Vertex>(missing - reached.begin());
  return missing == reached.end();
}

// Ends of two edges are exchanged, which keeps every degree: such moves lead from any regular graph
// to any other one (Taylor 1981). One that falls apart is not taken.
Edges random_regular(Vertex vertices, int degree, std::uint64_t seed) {
  constexpr std::size_t moves_an_edge = 10;
  constexpr int most_tries = 100;
  Edges first = circulant(vertices, degree);
  Edges edges = first;
  std::vector<std::pair<Vertex, Vertex>> list;
  std::copy_if(edges.begin(), edges.end(), std::back_inserter(list),
               [](const auto& edge) { return edge.first < edge.second; });
  SplitMix draws(seed);
  for (int tries = 0; tries < most_tries; ++tries) {
    for (std::size_t i = 0; i < moves_an_edge * list.size(); ++i) {
      auto& [a, b] = list[draw_below(list.size(), draws)];
      auto& [c, d] = list[draw_below(list.size(), draws)];
      if (draw_below(2, draws) == 0) {
        std::swap(c, d);
      }
      if (a == c || a == d || b == c || b == d || edges.contains({a, d}) ||
          edges.contains({c, b})) {
        continue;
      }
      for (const auto& [from, to] : {std::pair(a, b), std::pair(c, d)}) {
        edges.erase({from, to});
        edges.erase({to, from});
      }
      join(edges, a, d);
      join(edges, c, b);
      std::swap(b, d);
    }
    Vertex unheard = 0;
    if (all_hear(listed(edges, vertices), unheard)) {
      return edges;
    }
  }
  return first;
}

std::string of_nodes(int count) { return count == 1 ? "1 node" : std::to_string(count) + " nodes"; }

// Both ways: one edge may lead one way only.
void check_ways(const Neighbours& neighbours, Problems& problems) {
  const auto no_way = [&](Vertex from, Vertex to) {
    problems.push_back({"",
                        "no way of the graph leads from node " + std::to_string(from) +
                            " to node " + std::to_string(to) + ": they would never agree",
                        "add an edge that joins the two parts"});
  };
  Vertex unheard = 0;
  if (!all_hear(neighbours, unheard)) {
    no_way(0, unheard);
  } else if (!all_hear(reversed(neighbours), unheard)) {
    no_way(unheard, 0);
  }
}

}  // namespace

Neighbours neighbours_of(const ExchangeGraph& graph, int vertices) {
  const auto count = static_cast<Vertex>(vertices);
  switch (graph.shape) {
    case ExchangeShape::own:
      return graph.own;
    case ExchangeShape::torus:
      return listed(torus(count), count);
    case ExchangeShape::random:
      return listed(random_regular(count, graph.degree, graph.seed), count);
    case ExchangeShape::ring:
    case ExchangeShape::exponential:
    case ExchangeShape::complete:
      break;
  }
  const std::vector<Vertex> distances = distances_of(graph.shape, count);
  Neighbours neighbours(count);
  for (Vertex v = 0; v < count; ++v) {
    for (const Vertex away : distances) {
      neighbours[v].push_back((v + away) % count);
    }
    std::sort(neighbours[v].begin(), neighbours[v].end());
  }
  return neighbours;
}

int most_neighbours(const ExchangeGraph& graph, int vertices) {
  const auto on_ring = [](Vertex length) { return static_cast<int>(std::min(length - 1, 2U)); };
  const auto count = static_cast<Vertex>(vertices);
  switch (graph.shape) {
    case ExchangeShape::ring:
      return on_ring(count);
    case ExchangeShape::torus: {
      const Vertex rows = torus_rows(count);
      return on_ring(rows) + on_ring(count / rows);
    }
    case ExchangeShape::exponential:
      return log2_ceiling(vertices);
    case ExchangeShape::random:
      return graph.degree;
    case ExchangeShape::complete:
      return vertices - 1;
    case ExchangeShape::own:
      break;
  }
  return busiest(graph.own);
}

Neighbours reversed(const Neighbours& neighbours) {
  Neighbours result(neighbours.size());
  for (Vertex from = 0; from < neighbours.size(); ++from) {
    for (const Vertex to : neighbours[from]) {
      result[to].push_back(from);
    }
  }
  return result;
}

int busiest(const Neighbours& neighbours) {
  std::size_t most = 0;
  for (const Neighbours& way : {neighbours, reversed(neighbours)}) {
    for (const std::vector<Vertex>& of_vertex : way) {
      most = std::max(most, of_vertex.size());
    }
  }
  return static_cast<int>(most);
}

Problems check(const ExchangeGraph& graph, int vertices) {
  Problems problems;
  if (graph.shape == ExchangeShape::own && graph.own.size() != static_cast<std::size_t>(vertices)) {
    problems.push_back(
        {"",
         "the graph in `" + graph.file + "` has " + of_nodes(static_cast<int>(graph.own.size())) +
             ", and those that average are on " + of_nodes(vertices),
         "a vertex of the graph is a node: `ranks: " + std::to_string(vertices) + "` in the file"});
  } else if (graph.shape == ExchangeShape::torus &&
             torus_rows(static_cast<Vertex>(vertices)) == 1) {
    problems.push_back(
        {"",
         "a torus has rows and columns, and " + of_nodes(vertices) + " can be divided into none",
         "use `graph=ring`"});
  } else if (graph.shape == ExchangeShape::random &&
             (graph.degree >= vertices || (graph.degree % 2 != 0 && vertices % 2 != 0) ||
              (graph.degree == 1 && vertices > 2))) {
    problems.push_back({"",
                        "no connected graph of " + of_nodes(vertices) + " has " +
                            std::to_string(graph.degree) + " neighbours for each",
                        "fewer than there are nodes, an even number if theirs is odd, and 2 at "
                        "least for more than 2 nodes"});
  }
  if (problems.empty() && graph.shape == ExchangeShape::own && !graph.own.empty()) {
    check_ways(graph.own, problems);
  }
  return problems;
}

}  // namespace payoff
