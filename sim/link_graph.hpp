// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/topology.hpp"
#include "model/units.hpp"

// A directed graph of links: GPUs, NICs, switches, and between them the capacity and the latency
// of each direction. Links between the same two vertices are one edge with what they have
// together. Immutable, ordered, and so the same on every machine.

namespace payoff::sim {

using VertexId = std::uint32_t;
using EdgeId = std::uint32_t;
using Rank = std::uint32_t;

enum class LinkClass : std::uint8_t { fabric, pcie, socket, nic, network, global };
inline constexpr std::size_t link_class_count = 6;
[[nodiscard]] std::string_view name(LinkClass link_class);

struct Vertex {
  std::string name;
  GraphVertexKind kind{};
  bool forwards{true};  // whether what is for others may pass through
};

struct Edge {
  VertexId from{};
  VertexId to{};
  Bandwidth capacity{};
  Seconds latency{};
  LinkClass link_class{};
  Bandwidth nominal{};  // without faults; filled in by LinkGraph where it is not given

  // For shortest paths. Two global links cost as much as a way inside two groups and one of them,
  // so that a dragonfly's minimal route is a shortest one; a NIC is no switch between its GPUs.
  [[nodiscard]] std::uint32_t cost() const {
    return link_class == LinkClass::global ? 3 : link_class == LinkClass::nic ? 2 : 1;
  }
};

class LinkGraph {
 public:
  LinkGraph() = default;
  // `gpus` are vertices; rank r is on the GPU gpus[r].
  LinkGraph(std::vector<Vertex> vertices, std::vector<Edge> edges, std::vector<VertexId> gpus);

  [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }  // by from, then to
  [[nodiscard]] std::size_t ranks() const { return gpus_.size(); }
  [[nodiscard]] VertexId gpu(Rank rank) const { return gpus_[rank]; }

  [[nodiscard]] std::span<const Edge> out(VertexId vertex) const {
    return std::span(edges_).subspan(first_out_[vertex],
                                     first_out_[vertex + 1] - first_out_[vertex]);
  }
  [[nodiscard]] EdgeId first_out(VertexId vertex) const { return first_out_[vertex]; }
  [[nodiscard]] std::optional<EdgeId> find(VertexId from, VertexId to) const;
  [[nodiscard]] std::string edge_name(EdgeId edge) const;

 private:
  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
  std::vector<EdgeId> first_out_;
  std::vector<VertexId> gpus_;
};

}  // namespace payoff::sim
