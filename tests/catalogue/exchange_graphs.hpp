// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/exchange_graph.hpp"

// Graphs of every shape that has a name, and one of nobody's.

namespace payoff::test {

inline ExchangeGraph graph_of(ExchangeShape shape) { return {shape, 3, 7, {}, {}}; }

// A star with a ring around it: the hub has all others.
inline ExchangeGraph wheel(int nodes) {
  ExchangeGraph graph{ExchangeShape::own, 0, 0, Neighbours(static_cast<std::size_t>(nodes)), "w"};
  const auto join = [&](int a, int b) {
    graph.own[static_cast<std::size_t>(a)].push_back(static_cast<std::uint32_t>(b));
    graph.own[static_cast<std::size_t>(b)].push_back(static_cast<std::uint32_t>(a));
  };
  for (int i = 1; i < nodes; ++i) {
    join(0, i);
    join(i, i + 1 < nodes ? i + 1 : 1);
  }
  for (auto& own : graph.own) {
    std::sort(own.begin(), own.end());
  }
  return graph;
}

inline std::vector<ExchangeGraph> all_graphs(int nodes) {
  std::vector<ExchangeGraph> graphs;
  for (const auto& [name, shape] : exchange_shapes) {
    graphs.push_back(graph_of(shape));
  }
  graphs.push_back(wheel(nodes));
  return graphs;
}

}  // namespace payoff::test
