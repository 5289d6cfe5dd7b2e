// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/max_min.hpp"
#include "tests/sim/random.hpp"

// Random systems of members that share resources, and their rates.

namespace payoff::sim {

struct MemberSpec {
  std::vector<Use> uses;
  double share = 1.0;
  Rate bound = unlimited_rate;
};

struct SystemSpec {
  std::vector<Rate> capacities;
  std::vector<Sharing> sharing;
  std::vector<MemberSpec> members;
};

// Ties are where solvers err: shares and usages come from short lists as often as from a continuum.
[[nodiscard]] double random_ratio(Random& random);
[[nodiscard]] Rate random_rate(Random& random);
[[nodiscard]] SystemSpec random_system(Random& random);
[[nodiscard]] std::vector<Rate> solve(const SystemSpec& system);

}  // namespace payoff::sim
