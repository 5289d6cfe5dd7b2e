// SPDX-License-Identifier: Apache-2.0
#include "sim/shortest_paths.hpp"

#include <cstddef>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <boost/graph/relax.hpp>
#include <boost/property_map/function_property_map.hpp>

namespace payoff::sim {
namespace {

using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, std::uint32_t,
                                               boost::no_property, VertexId, EdgeId>;

constexpr std::size_t most_kept = std::size_t{16} << 20U;  // costs, of all destinations together

}  // namespace

struct ShortestPaths::Reversed {
  Csr graph;
};

ShortestPaths::ShortestPaths(const LinkGraph& links) : links_(&links) {
  std::vector<std::pair<VertexId, VertexId>> ends;
  std::vector<std::uint32_t> costs;
  for (const Edge& edge : links.edges()) {
    ends.emplace_back(edge.to, edge.from);
    costs.push_back(edge.cost());
  }
  reversed_ = std::make_unique<Reversed>(
      Reversed{Csr(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), costs.begin(),
                   static_cast<VertexId>(links.vertices().size()))});
}

ShortestPaths::ShortestPaths(ShortestPaths&&) noexcept = default;
ShortestPaths& ShortestPaths::operator=(ShortestPaths&&) noexcept = default;
ShortestPaths::~ShortestPaths() = default;

const std::vector<std::uint32_t>& ShortestPaths::costs_to(VertexId destination) {
  const auto known = costs_.find(destination);
  if (known != costs_.end()) {
    return known->second;
  }
  const std::size_t size = links_->vertices().size();
  if ((costs_.size() + 1) * size > most_kept) {
    costs_.clear();
  }
  std::vector<std::uint32_t>& costs = costs_[destination];
  costs.resize(size);
  const Csr& graph = reversed_->graph;
  const auto cost = [&](const Csr::edge_descriptor& edge) {
    const VertexId from = source(edge, graph);
    const bool passes = from == destination || links_->vertices()[from].forwards;
    return passes ? graph[edge] : unreachable;
  };
  boost::dijkstra_shortest_paths_no_color_map(
      graph, destination,
      boost::weight_map(boost::make_function_property_map<Csr::edge_descriptor>(cost))
          .distance_map(boost::make_iterator_property_map(
              costs.begin(), get(boost::vertex_index, graph), std::uint32_t{}))
          .distance_inf(unreachable)
          .distance_combine(boost::closed_plus<std::uint32_t>(unreachable)));
  return costs;
}

std::vector<EdgeId> ShortestPaths::first_edges(VertexId vertex, VertexId destination) {
  const std::vector<std::uint32_t>& costs = costs_to(destination);
  std::vector<EdgeId> first;
  if (costs[vertex] == unreachable) {
    return first;
  }
  EdgeId id = links_->first_out(vertex);
  for (const Edge& edge : links_->out(vertex)) {
    const bool passes = edge.to == destination || links_->vertices()[edge.to].forwards;
    if (passes && costs[edge.to] != unreachable && costs[edge.to] + edge.cost() == costs[vertex]) {
      first.push_back(id);
    }
    ++id;
  }
  return first;
}

}  // namespace payoff::sim
