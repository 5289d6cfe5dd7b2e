// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/step_plan.hpp"
#include "sim/incidence.hpp"
#include "sim/routing.hpp"

// Messages for which not all ranks of a group wait for all (Message::graph): between nodes a rank
// waits for those that send to it, the ranks of its place in the nodes that are its neighbours in
// the graph; inside a node for those of its node. Each rank has a message of its own: what comes to
// it. Every rank is then a place of its own.

namespace payoff::sim {

struct Circle {
  std::vector<std::size_t> waits_for;  // places, itself first
  std::vector<std::size_t> waited_by;
  std::vector<Incidence::Load> loads;  // for each byte that one of them sends it
};

// Of one graph, or of the insides of nodes, by place.
struct Circles {
  std::vector<Circle> of;
  double slowest{};    // seconds per byte of a link that the price knows, where all send at once
  std::size_t most{};  // that one place waits for, beside itself
};

struct CircleRules {
  Bandwidth fabric{};  // that prices assume, at least
  Bandwidth nic{};
};

// By StepPlan::graphs; the last ones are those inside nodes. `nodes`: of each rank.
[[nodiscard]] std::vector<Circles> circles_of(
    const std::vector<std::shared_ptr<const NodeGraph>>& graphs, const Incidence& incidence,
    const std::vector<std::uint32_t>& nodes, Routing& routing, const CircleRules& rules);

}  // namespace payoff::sim
