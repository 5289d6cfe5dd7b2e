// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sim/link_graph.hpp"

// Shortest paths on any graph of links (Dijkstra, by Boost.Graph, once for every destination that
// is asked for). Vertices that do not forward are ends of paths only.

namespace payoff::sim {

class ShortestPaths {
 public:
  static constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

  explicit ShortestPaths(const LinkGraph& links);
  ShortestPaths(ShortestPaths&&) noexcept;
  ShortestPaths& operator=(ShortestPaths&&) noexcept;
  ~ShortestPaths();

  // The cost of the way from every vertex; stays valid until the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& costs_to(VertexId destination);

  // Edges of `vertex` that begin a shortest path to the destination, in their order.
  [[nodiscard]] std::vector<EdgeId> first_edges(VertexId vertex, VertexId destination);

 private:
  struct Reversed;

  const LinkGraph* links_;
  std::unique_ptr<Reversed> reversed_;
  std::map<VertexId, std::vector<std::uint32_t>> costs_;
};

}  // namespace payoff::sim
