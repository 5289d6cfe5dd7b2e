// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/problem.hpp"

// Docs: docs/model.md, section 3.4, "Neighbours". Whom nodes average with where not all average
// with all: a graph whose vertices are the nodes of a data-parallel group, in their order. A node
// sends along its edges and waits for those that send to it; the vertex with the most edges in one
// direction decides what a NIC carries.

namespace payoff {

// Of a vertex, whom it sends to, ascending.
using Neighbours = std::vector<std::vector<std::uint32_t>>;

enum class ExchangeShape : std::uint8_t {
  ring,         // the vertices before and after (Lian et al., NeurIPS 2017)
  torus,        // those around it in rows and columns as equal as the number allows
  exponential,  // those 1, 2, 4 ... after it, one way (Assran et al., ICML 2019)
  random,       // of equal degree, drawn with a seed
  complete,     // all others
  own           // as the user says
};
inline constexpr std::array<std::pair<std::string_view, ExchangeShape>, 5> exchange_shapes{{
    {"ring", ExchangeShape::ring},
    {"torus", ExchangeShape::torus},
    {"exponential", ExchangeShape::exponential},
    {"random", ExchangeShape::random},
    {"complete", ExchangeShape::complete},
}};

struct ExchangeGraph {
  ExchangeShape shape{};
  int degree{};          // of random
  std::uint64_t seed{};  // of random
  Neighbours own{};
  std::string file{};  // that `own` is from, as it was written

  bool operator==(const ExchangeGraph&) const = default;
};

// Such a graph among so many nodes.
struct NodeGraph {
  ExchangeGraph graph;
  int nodes{};
};

// Of so many vertices. Requires check() to be empty. Time and memory go with the edges, of which a
// complete graph has as many as pairs.
[[nodiscard]] Neighbours neighbours_of(const ExchangeGraph& graph, int vertices);
// The most that one of its vertices sends to or gets from, without listing edges.
[[nodiscard]] int most_neighbours(const ExchangeGraph& graph, int vertices);

// The most that one vertex sends to or gets from.
[[nodiscard]] int busiest(const Neighbours& neighbours);

// Whom a vertex gets from, of each.
[[nodiscard]] Neighbours reversed(const Neighbours& neighbours);

// Another number of vertices than the file has, no such torus, a degree that no regular graph has,
// vertices that hear of each other by no way. Paths are left to the caller.
[[nodiscard]] Problems check(const ExchangeGraph& graph, int vertices);

}  // namespace payoff
