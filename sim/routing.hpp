// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/shortest_paths.hpp"
#include "sim/topology.hpp"

// Which links a flow from one rank to another takes: what the user prescribed, else closed form in
// regular topologies, else a shortest path. With several shortest paths a flow takes one by a
// seeded hash of its number (ECMP: flows collide by chance), or all of them by what they can carry
// (ideal balance: what adaptive routing does at best; non-minimal paths are not taken).

namespace payoff::sim {

struct EdgeShare {
  EdgeId edge{};
  double share{1};  // of the flow's bytes

  bool operator==(const EdgeShare&) const = default;
};

// By which hashing tells the flows of every two ranks apart.
[[nodiscard]] constexpr std::uint64_t flow_between(Rank from, Rank to) {
  return std::uint64_t{from} << 32U | to;
}

class Routing {
 public:
  // The graph has to outlive this.
  Routing(const TopologyGraph& graph, Balance balance, std::uint64_t seed);

  // Each edge once; hashed flows in the order passed. Empty for a rank to itself.
  [[nodiscard]] std::vector<EdgeShare> route(Rank from, Rank to, std::uint64_t flow);
  // The sum over the links of one path; the longest with ideal balance.
  [[nodiscard]] Seconds latency(Rank from, Rank to, std::uint64_t flow);
  // How many paths hashing chooses from; 0: searched for, hop by hop.
  [[nodiscard]] std::uint32_t path_count(Rank from, Rank to) const;

  [[nodiscard]] const TopologyGraph& graph() const { return graph_; }

 private:
  using Vertices = std::vector<VertexId>;

  [[nodiscard]] bool is_closed_form(Rank from, Rank to) const;
  [[nodiscard]] std::optional<Vertices> known_path(Rank from, Rank to, std::uint32_t choice);
  [[nodiscard]] Vertices searched(VertexId from, VertexId to, std::uint64_t hash);
  [[nodiscard]] std::vector<EdgeShare> spread(Rank from, Rank to);
  [[nodiscard]] std::vector<EdgeShare> spread_searched(VertexId from, VertexId to);
  [[nodiscard]] std::vector<EdgeId> edges_of(const Vertices& path) const;
  [[nodiscard]] std::uint64_t hash(Rank from, Rank to, std::uint64_t flow) const;

  const TopologyGraph& graph_;
  Balance balance_;
  std::uint64_t seed_;
  ShortestPaths shortest_;
  std::map<std::pair<VertexId, VertexId>, const Vertices*> prescribed_;
};

}  // namespace payoff::sim
