// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/random_systems.hpp"

namespace payoff::sim {
namespace {

// A system that changes, beside the list of what it is made of.
class ChangingSystem {
 public:
  explicit ChangingSystem(std::uint64_t seed) : random_(seed) {
    for (int r = 0; r < 12; ++r) {
      now_.capacities.push_back(random_rate(random_));
      now_.sharing.push_back(r % 5 == 4 ? Sharing::fat_pipe : Sharing::shared);
      solver_.add_resource(now_.capacities.back(), now_.sharing.back());
    }
    now_.members.resize(15);
    here_.resize(15);
  }

  void change() {
    const MaxMin::Slot m = random_.below(15);
    MemberSpec& member = now_.members[m];
    if (!here_[m]) {
      member = {};
      for (std::uint32_t r = random_.below(3); r < 12; r += random_.between(1, 8)) {
        member.uses.push_back({{r}, random_ratio(random_)});
      }
      member.share = random_ratio(random_);
      member.bound = random_.chance(0.3) ? random_rate(random_) : unlimited_rate;
      solver_.describe(m, member.bound, member.share, member.uses);
      solver_.join(m);
      here_[m] = true;
    } else if (random_.chance(0.5)) {
      solver_.remove(m);
      here_[m] = false;
    } else if (random_.chance(0.5)) {
      member.bound = random_rate(random_);
      solver_.set_bound(m, member.bound);
    } else {
      const std::uint32_t r = random_.below(12);
      now_.capacities[r] = random_rate(random_);
      solver_.set_capacity({r}, now_.capacities[r]);
    }
  }

  void solve_and_compare() {
    for (const MaxMin::Change& change : solver_.solve()) {
      REQUIRE(solver_.rate(change.slot) != change.old_rate);
    }
    SystemSpec whole = now_;
    for (std::size_t m = 0; m < 15; ++m) {
      if (!here_[m]) {
        whole.members[m] = {{}, 1.0, Rate{1}};  // joins nothing
      }
    }
    const std::vector<Rate> expected = payoff::sim::solve(whole);
    for (MaxMin::Slot m = 0; m < 15; ++m) {
      REQUIRE((!here_[m] || solver_.rate(m) == expected[m]));
    }
  }

 private:
  Random random_;
  MaxMin solver_;
  SystemSpec now_;
  std::vector<bool> here_;
};

TEST_CASE("solving what changed gives the rates of solving everything, to the last unit") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    ChangingSystem system(seed);
    for (int step = 0; step < 200; ++step) {
      system.change();
      if (step % 3 != 0) {
        system.solve_and_compare();
      }
    }
  }
}

}  // namespace
}  // namespace payoff::sim
