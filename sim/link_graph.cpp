// SPDX-License-Identifier: Apache-2.0
#include "sim/link_graph.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace payoff::sim {

std::string_view name(LinkClass link_class) {
  constexpr std::array<std::string_view, link_class_count> names{"fabric", "PCIe",    "socket",
                                                                 "NIC",    "network", "global"};
  return names[static_cast<std::size_t>(link_class)];
}

LinkGraph::LinkGraph(std::vector<Vertex> vertices, std::vector<Edge> edges,
                     std::vector<VertexId> gpus)
    : vertices_(std::move(vertices)), gpus_(std::move(gpus)) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  first_out_.assign(vertices_.size() + 1, 0);
  for (Edge& edge : edges) {
    edge.nominal = edge.nominal > Bandwidth{} ? edge.nominal : edge.capacity;
    if (!edges_.empty() && edges_.back().from == edge.from && edges_.back().to == edge.to) {
      edges_.back().capacity += edge.capacity;
      edges_.back().nominal += edge.nominal;
      edges_.back().latency = std::min(edges_.back().latency, edge.latency);
    } else {
      edges_.push_back(edge);
      ++first_out_[edge.from + 1];
    }
  }
  for (std::size_t v = 0; v < vertices_.size(); ++v) {
    first_out_[v + 1] += first_out_[v];
  }
}

std::optional<EdgeId> LinkGraph::find(VertexId from, VertexId to) const {
  const auto begin = edges_.begin() + first_out_[from];
  const auto end = edges_.begin() + first_out_[from + 1];
  const auto found =
      std::lower_bound(begin, end, to, [](const Edge& edge, VertexId v) { return edge.to < v; });
  return found != end && found->to == to
             ? std::optional(static_cast<EdgeId>(found - edges_.begin()))
             : std::nullopt;
}

std::string LinkGraph::edge_name(EdgeId edge) const {
  return vertices_[edges_[edge].from].name + " > " + vertices_[edges_[edge].to].name;
}

}  // namespace payoff::sim
