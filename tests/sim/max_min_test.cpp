// SPDX-License-Identifier: Apache-2.0
#include "sim/max_min.hpp"

#include "tests/catch.hpp"

// Fact, derivation, expectation. Rates are in units of the grid: whole numbers, so that what is
// expected is exact wherever the level divides evenly.

namespace payoff::sim {
namespace {

constexpr Rate unbounded = unlimited_rate;

struct System {
  MaxMin solver;
  std::uint32_t count = 0;

  ResourceId shared(std::uint64_t capacity) {
    return solver.add_resource({capacity}, Sharing::shared);
  }
  ResourceId fat_pipe(std::uint64_t capacity) {
    return solver.add_resource({capacity}, Sharing::fat_pipe);
  }
  MaxMin::Slot member(std::vector<Use> uses, double share = 1.0, Rate bound = unbounded) {
    solver.describe(count, bound, share, uses);
    solver.join(count);
    return count++;
  }
  std::uint64_t rate(MaxMin::Slot slot) {
    solver.solve();
    return solver.rate(slot).units;
  }
};

TEST_CASE("users of one resource get equal parts of it") {
  System system;
  const ResourceId link = system.shared(3000);
  const auto a = system.member({{link}});
  CHECK(system.rate(a) == 3000);  // alone
  const auto b = system.member({{link}});
  const auto c = system.member({{link}});
  for (const auto slot : {a, b, c}) {
    CHECK(system.rate(slot) == 1000);
  }
}

TEST_CASE("a user with twice the share gets twice the rate") {
  // rate1 = 2 rate2 and rate1 + rate2 = 3000.
  System system;
  const ResourceId link = system.shared(3000);
  const auto twice = system.member({{link}}, 2.0);
  const auto once = system.member({{link}}, 1.0);
  CHECK(system.rate(twice) == 2000);
  CHECK(system.rate(once) == 1000);
}

TEST_CASE("a user that needs twice the bytes has the same rate and takes twice the capacity") {
  // rate1 = rate2 and 2 rate1 + rate2 = 3000. Max-min is fair in rates, not in what they take.
  System system;
  const ResourceId link = system.shared(3000);
  const auto heavy = system.member({{link, 2.0}});
  const auto light = system.member({{link, 1.0}});
  CHECK(system.rate(heavy) == 1000);
  CHECK(system.rate(light) == 1000);
}

TEST_CASE("what a bounded user leaves goes to the others") {
  // 500 are bounded; 3000 - 500 for two others.
  System system;
  const ResourceId link = system.shared(3000);
  const auto slow = system.member({{link}}, 1.0, Rate{500});
  const auto a = system.member({{link}});
  const auto b = system.member({{link}});
  CHECK(system.rate(slow) == 500);
  CHECK(system.rate(a) == 1250);
  CHECK(system.rate(b) == 1250);
}

TEST_CASE("a bound above the fair part changes nothing") {
  System system;
  const ResourceId link = system.shared(3000);
  const auto a = system.member({{link}}, 1.0, Rate{1500});
  const auto b = system.member({{link}}, 1.0, Rate{1501});
  CHECK(system.rate(a) == 1500);
  CHECK(system.rate(b) == 1500);
}

TEST_CASE("what is stopped at one resource leaves room on another") {
  // The chain of Bertsekas and Gallager: a crosses both links, b the first, c the second. The first
  // link gives a and b 500 each; the second has 3000 - 500 for c.
  System system;
  const ResourceId first = system.shared(1000);
  const ResourceId second = system.shared(3000);
  const auto a = system.member({{first}, {second}});
  const auto b = system.member({{first}});
  const auto c = system.member({{second}});
  CHECK(system.rate(a) == 500);
  CHECK(system.rate(b) == 500);
  CHECK(system.rate(c) == 2500);
}

TEST_CASE("each user of a fat pipe may have all of it") {
  System system;
  const ResourceId backbone = system.fat_pipe(1000);
  const ResourceId link = system.shared(1500);
  const auto a = system.member({{backbone}});
  const auto b = system.member({{backbone, 2.0}});
  const auto c = system.member({{backbone}, {link}});
  const auto d = system.member({{link}});
  CHECK(system.rate(a) == 1000);
  CHECK(system.rate(b) == 500);  // two bytes of the pipe for each of its own
  CHECK(system.rate(c) == 750);  // the link is the narrower one
  CHECK(system.rate(d) == 750);
}

TEST_CASE("the same resource named twice counts twice") {
  System system;
  const ResourceId link = system.shared(3000);
  const auto round_trip = system.member({{link}, {link}});
  CHECK(system.rate(round_trip) == 1500);
  const auto other = system.member({{link}});
  CHECK(system.rate(round_trip) == 1000);
  CHECK(system.rate(other) == 1000);
}

TEST_CASE("whoever leaves gives its part back, and may return") {
  System system;
  const ResourceId link = system.shared(3000);
  const auto a = system.member({{link}});
  const auto b = system.member({{link}});
  CHECK(system.rate(a) == 1500);
  system.solver.leave(b);
  CHECK(system.rate(a) == 3000);
  CHECK_FALSE(system.solver.join(b));
  CHECK(system.rate(a) == 1500);
  CHECK(system.rate(b) == 1500);
}

TEST_CASE("a changed bound, share or capacity holds from the next solution on") {
  System system;
  const ResourceId link = system.shared(3000);
  const ResourceId pipe = system.fat_pipe(10'000);
  const auto a = system.member({{link}, {pipe}});
  const auto b = system.member({{link}});
  CHECK(system.rate(a) == 1500);
  system.solver.set_bound(a, Rate{100});
  CHECK(system.rate(b) == 2900);
  system.solver.set_bound(a, unbounded);
  system.solver.set_share(b, 2.0);
  CHECK(system.rate(b) == 2000);
  system.solver.set_capacity(link, {600});
  CHECK(system.rate(a) == 200);
  system.solver.set_capacity(pipe, {50});
  CHECK(system.rate(a) == 50);
  CHECK(system.rate(b) == 550);
}

TEST_CASE("only the connected part that changed is solved, and only new rates are reported") {
  System system;
  const ResourceId left = system.shared(3000);
  const ResourceId right = system.shared(3000);
  const auto a = system.member({{left}});
  const auto b = system.member({{right}});
  const auto bounded = system.member({{right}}, 1.0, Rate{100});
  CHECK(system.rate(bounded) == 100);
  CHECK(system.rate(b) == 2900);
  // A newcomer on the left: a is slowed, nobody on the right is mentioned.
  const auto c = system.member({{left}});
  const auto changes = system.solver.solve();
  REQUIRE(changes.size() == 2);
  for (const auto& change : changes) {
    CHECK((change.slot == a || change.slot == c));
    CHECK(change.old_rate == Rate{change.slot == a ? 3000U : 0U});
  }
  // On the right, the bounded one keeps its rate and is not mentioned either.
  const auto d = system.member({{right}});
  for (const auto& change : system.solver.solve()) {
    CHECK((change.slot == b || change.slot == d));
  }
  CHECK(system.solver.solve().empty());
}

TEST_CASE("resources that fill at the same level fill together") {
  // Both links have a level of floor(10/3) = 3 for their three users, a shared by both. One after
  // the other, the second would find 11 - 3 = 8 left for two, and give 4.
  System system;
  const ResourceId first = system.shared(10);
  const ResourceId second = system.shared(10);
  const auto both = system.member({{first}, {second}});
  const auto a = system.member({{first}});
  const auto b = system.member({{second}});
  CHECK(system.rate(both) == system.rate(a));
  CHECK(system.rate(a) == system.rate(b));
}

}  // namespace
}  // namespace payoff::sim
