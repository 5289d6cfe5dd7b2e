// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/random_systems.hpp"
#include "tests/sim/reference_filling.hpp"

namespace payoff::sim {
namespace {

std::vector<double> solve_by_reference(const SystemSpec& system) {
  std::vector<reference::Constraint> constraints;
  for (std::size_t r = 0; r < system.capacities.size(); ++r) {
    constraints.push_back(
        {static_cast<double>(system.capacities[r].units), system.sharing[r] == Sharing::fat_pipe});
  }
  std::vector<reference::Flow> flows;
  for (const MemberSpec& member : system.members) {
    reference::Flow flow;
    flow.usage.resize(constraints.size());
    for (const Use& use : member.uses) {
      flow.usage[use.resource.index] = use.usage_ratio;
    }
    flow.share = member.share;
    if (member.bound < unlimited_rate) {
      flow.bound = static_cast<double>(member.bound.units);
    }
    flows.push_back(flow);
  }
  return reference::fill(constraints, flows);
}

// In units of the resource's own rate.
double taken(const SystemSpec& system, const std::vector<Rate>& rates, std::uint32_t resource) {
  double sum = 0.0;
  for (std::size_t m = 0; m < rates.size(); ++m) {
    for (const Use& use : system.members[m].uses) {
      if (use.resource.index == resource) {
        sum += use.usage_ratio * static_cast<double>(rates[m].units);
      }
    }
  }
  return sum;
}

// The definition: nobody can be given more without taking from one that has, for its share, no
// more. So each is at its bound, or uses a full resource on which nobody has more for its share.
bool has_bottleneck(const SystemSpec& system, const std::vector<Rate>& rates, std::size_t member) {
  constexpr double slack = 1e-9;
  const auto level = [&](std::size_t m) {
    return static_cast<double>(rates[m].units) / system.members[m].share;
  };
  if (rates[member] == system.members[member].bound) {
    return true;
  }
  for (const Use& use : system.members[member].uses) {
    const std::uint32_t r = use.resource.index;
    const auto capacity = static_cast<double>(system.capacities[r].units);
    if (system.sharing[r] == Sharing::fat_pipe) {
      if (use.usage_ratio * static_cast<double>(rates[member].units) >= capacity * (1.0 - slack)) {
        return true;
      }
      continue;
    }
    bool highest = taken(system, rates, r) >= capacity * (1.0 - slack);
    for (std::size_t m = 0; m < rates.size(); ++m) {
      for (const Use& other : system.members[m].uses) {
        highest =
            highest && (other.resource.index != r || level(m) <= level(member) * (1.0 + slack));
      }
    }
    if (highest) {
      return true;
    }
  }
  return false;
}

TEST_CASE("rates agree with brute-force progressive filling on 10,000 random systems") {
  Random random(11);
  for (int i = 0; i < 10'000; ++i) {
    const SystemSpec system = random_system(random);
    const std::vector<Rate> rates = solve(system);
    const std::vector<double> expected = solve_by_reference(system);
    for (std::size_t m = 0; m < rates.size(); ++m) {
      INFO("system " << i << ", member " << m);
      const auto rate = static_cast<double>(rates[m].units);
      REQUIRE(std::abs(rate - expected[m]) <= 1e-9 * expected[m]);
    }
  }
}

TEST_CASE("no resource is overloaded and every rate has a bottleneck, on 2,000 random systems") {
  Random random(12);
  for (int i = 0; i < 2'000; ++i) {
    const SystemSpec system = random_system(random);
    const std::vector<Rate> rates = solve(system);
    INFO("system " << i);
    for (std::uint32_t r = 0; r < system.capacities.size(); ++r) {
      const auto capacity = static_cast<double>(system.capacities[r].units);
      REQUIRE((system.sharing[r] == Sharing::fat_pipe || taken(system, rates, r) <= capacity));
    }
    for (std::size_t m = 0; m < rates.size(); ++m) {
      REQUIRE(rates[m] <= system.members[m].bound);
      REQUIRE(has_bottleneck(system, rates, m));
    }
  }
}

// What would overflow if 128 bits did not hold capacities, weights and levels at their ends: a
// share and a usage at either end of what messages may have, the widest capacity of the grid.
TEST_CASE("the ends of capacity, usage and share neither overload nor leave room, 2,000 systems") {
  Random random(14);
  constexpr Rate widest{std::uint64_t{1} << 62U};
  const auto at_an_end = [&] {
    const std::uint32_t which = random.below(3);
    return which == 0 ? 1.0 : which == 1 ? 0x1p-16 : 65535.0;
  };
  for (int i = 0; i < 2'000; ++i) {
    SystemSpec system;
    const std::uint32_t resources = random.between(1, 4);
    for (std::uint32_t r = 0; r < resources; ++r) {
      system.capacities.push_back(random.chance(0.5) ? widest : Rate{std::uint64_t{1} << 40U});
      system.sharing.push_back(Sharing::shared);
    }
    const std::uint32_t members = random.between(1, 64);
    for (std::uint32_t m = 0; m < members; ++m) {
      MemberSpec member;
      for (std::uint32_t r = 0; r < resources; ++r) {
        if (member.uses.empty() || random.chance(0.5)) {
          member.uses.push_back({{random.below(resources)}, at_an_end()});
        }
      }
      member.share = at_an_end();
      member.bound = widest;  // every message has a bound
      system.members.push_back(member);
    }
    const std::vector<Rate> rates = solve(system);
    INFO("system " << i);
    std::vector<bool> full;
    for (std::uint32_t r = 0; r < resources; ++r) {
      double rounding = 0.0;  // to units of rate, and of levels (2^-8 for a share of one)
      for (const MemberSpec& member : system.members) {
        for (const Use& use : member.uses) {
          rounding += use.resource.index == r ? use.usage_ratio * (1 + member.share / 256) : 0.0;
        }
      }
      const auto capacity = static_cast<double>(system.capacities[r].units);
      REQUIRE(taken(system, rates, r) <= capacity * (1 + 1e-12) + rounding);
      full.push_back(taken(system, rates, r) >= capacity * (1 - 1e-6) - rounding);
    }
    for (std::size_t m = 0; m < rates.size(); ++m) {
      const std::vector<Use>& uses = system.members[m].uses;
      REQUIRE((rates[m] == widest || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
                 return full[use.resource.index];
               })));
    }
  }
}

TEST_CASE("rates do not depend on the order of members, resources and uses") {
  Random random(13);
  for (int i = 0; i < 500; ++i) {
    const SystemSpec system = random_system(random);
    const std::vector<Rate> rates = solve(system);
    SystemSpec reversed = system;
    const auto last = static_cast<std::uint32_t>(system.capacities.size() - 1);
    std::reverse(reversed.capacities.begin(), reversed.capacities.end());
    std::reverse(reversed.sharing.begin(), reversed.sharing.end());
    std::reverse(reversed.members.begin(), reversed.members.end());
    for (MemberSpec& member : reversed.members) {
      for (Use& use : member.uses) {
        use.resource.index = last - use.resource.index;
      }
    }
    std::vector<Rate> again = solve(reversed);
    std::reverse(again.begin(), again.end());
    REQUIRE(again == rates);  // to the last unit
  }
}

// One member that stands for n of a kind takes n times as much of what they share, at one's rate.
TEST_CASE("equal members folded into one representative have the same rate, to the last unit") {
  Random random(14);
  for (int i = 0; i < 1'000; ++i) {
    SystemSpec folded = random_system(random);
    SystemSpec unfolded = folded;
    unfolded.members.clear();
    std::vector<std::size_t> first_of_kind;
    for (MemberSpec& member : folded.members) {
      const std::uint32_t copies = random.between(1, 7);
      for (Use& use : member.uses) {
        // Exact in the solver's units, whatever the number of copies.
        use.usage_ratio = std::ceil(use.usage_ratio * 256.0) / 256.0;
      }
      first_of_kind.push_back(unfolded.members.size());
      unfolded.members.insert(unfolded.members.end(), copies, member);
      for (Use& use : member.uses) {
        if (folded.sharing[use.resource.index] == Sharing::shared) {
          use.usage_ratio *= copies;
        }
      }
    }
    const std::vector<Rate> one = solve(folded);
    const std::vector<Rate> many = solve(unfolded);
    for (std::size_t kind = 0; kind < one.size(); ++kind) {
      REQUIRE(many[first_of_kind[kind]] == one[kind]);
    }
  }
}

}  // namespace
}  // namespace payoff::sim
