// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "model/units.hpp"
#include "sim/link_graph.hpp"

// The most that a graph of links carries from some vertices to others (Goldberg and Tarjan's
// push-relabel, by Boost.Graph). Capacities are taken in whole bytes per second.

namespace payoff::sim {

class MaxFlow {
 public:
  explicit MaxFlow(const LinkGraph& links);
  MaxFlow(const MaxFlow&) = delete;
  MaxFlow& operator=(const MaxFlow&) = delete;
  ~MaxFlow();

  // No vertex in both.
  [[nodiscard]] Bandwidth between(std::span<const VertexId> sources,
                                  std::span<const VertexId> sinks);

 private:
  struct Network;
  std::unique_ptr<Network> network_;
};

}  // namespace payoff::sim
