// SPDX-License-Identifier: Apache-2.0
#include "sim/max_flow.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

// GCC 12 takes the empty optional of Boost's edge iterator for an uninitialised one at -O2.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace payoff::sim {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

}  // namespace

struct MaxFlow::Network {
  Graph graph;
  VertexId source{};
  VertexId sink{};
  std::vector<std::int64_t> out;  // what all links out of a vertex carry together, and into it
  std::vector<std::int64_t> in;
  std::vector<Traits::edge_descriptor> from_source;  // to every vertex
  std::vector<Traits::edge_descriptor> to_sink;

  Traits::edge_descriptor add(VertexId from, VertexId to, std::int64_t capacity) {
    const auto edge = add_edge(from, to, graph).first;
    const auto back = add_edge(to, from, graph).first;
    put(boost::edge_capacity, graph, edge, capacity);
    put(boost::edge_capacity, graph, back, 0);
    put(boost::edge_reverse, graph, edge, back);
    put(boost::edge_reverse, graph, back, edge);
    return edge;
  }
};

MaxFlow::MaxFlow(const LinkGraph& links) : network_(std::make_unique<Network>()) {
  const auto size = static_cast<VertexId>(links.vertices().size());
  network_->graph = Graph(size + 2);
  network_->source = size;
  network_->sink = size + 1;
  network_->out.resize(size);
  network_->in.resize(size);
  for (const Edge& edge : links.edges()) {
    const std::int64_t capacity = std::llround(edge.capacity.si);
    network_->out[edge.from] += capacity;
    network_->in[edge.to] += capacity;
    (void)network_->add(edge.from, edge.to, capacity);
  }
  for (VertexId v = 0; v < size; ++v) {
    network_->from_source.push_back(network_->add(network_->source, v, 0));
    network_->to_sink.push_back(network_->add(v, network_->sink, 0));
  }
}

MaxFlow::~MaxFlow() = default;

// A source gets as much as its links carry away: without a bound on what all of them get, their sum
// would not fit 64 bits on some thousand GPUs.
Bandwidth MaxFlow::between(std::span<const VertexId> sources, std::span<const VertexId> sinks) {
  Graph& graph = network_->graph;
  for (const VertexId v : sources) {
    put(boost::edge_capacity, graph, network_->from_source[v], network_->out[v]);
  }
  for (const VertexId v : sinks) {
    put(boost::edge_capacity, graph, network_->to_sink[v], network_->in[v]);
  }
  const std::int64_t flow = boost::push_relabel_max_flow(graph, network_->source, network_->sink);
  for (const VertexId v : sources) {
    put(boost::edge_capacity, graph, network_->from_source[v], 0);
  }
  for (const VertexId v : sinks) {
    put(boost::edge_capacity, graph, network_->to_sink[v], 0);
  }
  return {static_cast<double>(flow)};
}

}  // namespace payoff::sim
