// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/problem.hpp"
#include "model/topology.hpp"

// What keeps a topology from being built, and from which fields that follows: whoever could not
// read one of them leaves the problem out, which may be of his own making, and tells the others.

namespace payoff {

struct TopologyProblem {
  Problem problem;
  // By path, each with all that is below it: "network.groups", "servers".
  std::vector<std::string> rests_on;
};

// What of a regular topology was read well.
enum class KnownParts : std::uint8_t { all, servers, servers_without_nics };

// In the order of the fields. check() says the same without what it rests on.
[[nodiscard]] std::vector<TopologyProblem> find_problems(const Topology& topology);

}  // namespace payoff
