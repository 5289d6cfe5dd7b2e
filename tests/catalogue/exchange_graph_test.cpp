// SPDX-License-Identifier: Apache-2.0
#include "model/exchange_graph.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "tests/catalogue/exchange_graphs.hpp"
#include "tests/catch.hpp"

// Graphs of nodes over which gradients are averaged: edges and neighbours.

using namespace payoff;
using test::all_graphs;
using test::graph_of;
using test::wheel;

namespace {

using Matrix = std::vector<std::vector<char>>;

Matrix matrix_of(const Neighbours& neighbours) {
  Matrix matrix(neighbours.size(), std::vector<char>(neighbours.size()));
  for (std::size_t from = 0; from < neighbours.size(); ++from) {
    for (const std::uint32_t to : neighbours[from]) {
      REQUIRE(to < neighbours.size());
      matrix[from][to] = 1;
    }
    CHECK(std::is_sorted(neighbours[from].begin(), neighbours[from].end()));
    CHECK(std::adjacent_find(neighbours[from].begin(), neighbours[from].end()) ==
          neighbours[from].end());
  }
  return matrix;
}

// Warshall's closure, a second opinion on searches.
bool all_reach_all(Matrix matrix) {
  const std::size_t n = matrix.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        matrix[i][j] = matrix[i][j] | (matrix[i][k] & matrix[k][j]);
      }
    }
  }
  return std::all_of(matrix.begin(), matrix.end(), [](const auto& row) {
    return std::all_of(row.begin(), row.end(), [](char reached) { return reached != 0; });
  });
}

bool is_simple(const Matrix& matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    if (matrix[i][i] != 0) {
      return false;
    }
  }
  return true;
}

bool is_symmetric(const Matrix& matrix) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix.size(); ++j) {
      if (matrix[i][j] != matrix[j][i]) {
        return false;
      }
    }
  }
  return true;
}

bool all_have(const Neighbours& neighbours, std::size_t degree) {
  return std::all_of(neighbours.begin(), neighbours.end(),
                     [&](const auto& own) { return own.size() == degree; });
}

}  // namespace

TEST_CASE("named graphs are simple, and lead from every node to every other one") {
  for (const int nodes : {2, 4, 6, 8, 12, 16, 20, 64}) {
    for (const ExchangeGraph& graph : all_graphs(nodes)) {
      if (!check(graph, nodes).empty()) {
        CHECK((nodes == 2 || graph.shape == ExchangeShape::random));
        continue;
      }
      const Neighbours neighbours = neighbours_of(graph, nodes);
      REQUIRE(neighbours.size() == static_cast<std::size_t>(nodes));
      CHECK(most_neighbours(graph, nodes) == busiest(neighbours));
      if (nodes == 2 && graph.shape == ExchangeShape::own) {
        continue;  // no wheel
      }
      const Matrix matrix = matrix_of(neighbours);
      INFO(nodes << " nodes, shape " << static_cast<int>(graph.shape));
      CHECK(is_simple(matrix));
      CHECK(all_reach_all(matrix));
      CHECK((is_symmetric(matrix) || graph.shape == ExchangeShape::exponential));
    }
  }
}

TEST_CASE("nodes of a named graph have as many neighbours as its name says") {
  for (const int nodes : {8, 12, 16, 64}) {
    const auto ends = [&](ExchangeShape shape) { return neighbours_of(graph_of(shape), nodes); };
    const auto n = static_cast<std::size_t>(nodes);
    CHECK(all_have(ends(ExchangeShape::ring), 2));
    CHECK(all_have(ends(ExchangeShape::random), 3));
    CHECK(all_have(ends(ExchangeShape::complete), n - 1));
    // 1, 2, 4 ... below n.
    const auto powers = static_cast<std::size_t>(std::bit_width(n - 1));
    CHECK(all_have(ends(ExchangeShape::exponential), powers));
    CHECK(all_have(reversed(ends(ExchangeShape::exponential)), powers));
  }
  // 2 x 4: above is below. 3 x 4, 4 x 4, 8 x 8.
  CHECK(all_have(neighbours_of(graph_of(ExchangeShape::torus), 8), 3));
  for (const int nodes : {12, 16, 64}) {
    CHECK(all_have(neighbours_of(graph_of(ExchangeShape::torus), nodes), 4));
  }
  CHECK(busiest(wheel(9).own) == 8);
}

TEST_CASE("how many neighbours a node has is known of a million nodes without their edges") {
  constexpr int nodes = 1 << 20;
  CHECK(most_neighbours(graph_of(ExchangeShape::ring), nodes) == 2);
  CHECK(most_neighbours(graph_of(ExchangeShape::torus), nodes) == 4);  // 1,024 x 1,024
  CHECK(most_neighbours(graph_of(ExchangeShape::exponential), nodes) == 20);
  CHECK(most_neighbours(graph_of(ExchangeShape::random), nodes) == 3);
  CHECK(most_neighbours(graph_of(ExchangeShape::complete), nodes) == nodes - 1);
}

TEST_CASE("a random graph is that of its seed") {
  const auto of_seed = [](std::uint64_t seed) {
    return neighbours_of({ExchangeShape::random, 4, seed, {}, {}}, 32);
  };
  CHECK(of_seed(1) == of_seed(1));
  CHECK(of_seed(1) != of_seed(2));
}
