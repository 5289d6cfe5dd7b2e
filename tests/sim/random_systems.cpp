// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/random_systems.hpp"

#include <cstdint>

namespace payoff::sim {

// On the solver's grid: a share has 24 bits after the point.
double random_ratio(Random& random) {
  return random.chance(0.7) ? 0.5 * random.between(1, 4)
                            : random.between(1U << 18U, 1U << 22U) * 0x1p-20;
}

Rate random_rate(Random& random) {
  const auto gigabytes = random.between(1, 16);
  return {random.chance(0.5) ? gigabytes * std::uint64_t{64'000'000'000}
                             : 64'000'000'000U + random.below(4'000'000'000U) * std::uint64_t{256}};
}

SystemSpec random_system(Random& random) {
  SystemSpec system;
  const std::uint32_t resources = random.between(1, 8);
  for (std::uint32_t r = 0; r < resources; ++r) {
    system.capacities.push_back(random_rate(random));
    system.sharing.push_back(random.chance(0.15) ? Sharing::fat_pipe : Sharing::shared);
  }
  const std::uint32_t members = random.between(1, 12);
  for (std::uint32_t m = 0; m < members; ++m) {
    MemberSpec member;
    for (std::uint32_t r = 0; r < resources; ++r) {
      if (random.chance(0.35)) {
        member.uses.push_back({{r}, random_ratio(random)});
      }
    }
    member.share = random_ratio(random);
    if (member.uses.empty() || random.chance(0.3)) {
      member.bound = {random_rate(random).units / 4};
    }
    system.members.push_back(member);
  }
  return system;
}

std::vector<Rate> solve(const SystemSpec& system) {
  MaxMin solver;
  for (std::size_t r = 0; r < system.capacities.size(); ++r) {
    solver.add_resource(system.capacities[r], system.sharing[r]);
  }
  for (MaxMin::Slot m = 0; m < system.members.size(); ++m) {
    const MemberSpec& member = system.members[m];
    solver.describe(m, member.bound, member.share, member.uses);
    solver.join(m);
  }
  solver.solve();
  std::vector<Rate> rates;
  for (MaxMin::Slot m = 0; m < system.members.size(); ++m) {
    rates.push_back(solver.rate(m));
  }
  return rates;
}

}  // namespace payoff::sim
