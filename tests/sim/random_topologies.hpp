// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/topology.hpp"
#include "tests/sim/random_plans.hpp"

// Random topologies of every kind, with links so narrow that different kinds of traffic are in each
// other's way.

namespace payoff::test {

struct RandomTopology {
  std::string kind;
  Topology topology;  // balance: ideal
  int gpus_per_server{};
};

// With as many GPUs as there are ranks, or a few more to fill the last server.
[[nodiscard]] RandomTopology random_kind_of_topology(Random& random, int ranks);

// Servers of so many GPUs behind one switch, on a switch, a fat tree, rails or pods.
[[nodiscard]] Topology random_topology(Random& random, int servers, int gpus);

}  // namespace payoff::test
