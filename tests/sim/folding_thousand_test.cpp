// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/sim/compare_folded.hpp"

// The whole of what folding_test.cpp has a sample of.

TEST_CASE("a thousand folded and unfolded steps end at the same picosecond on every rank") {
  const payoff::test::FoldingCount count = payoff::test::compare_folded(1, 1000);
  CHECK(count.all.jobs == 1000);
  CHECK(2 * count.uneven >= count.all.jobs);
  CHECK(4 * count.late >= count.all.jobs);
  CHECK(count.of_kind.size() == 12);
  for (const char* asymmetry :
       {"degraded link", "failed link", "hashed routes", "jitter", "loads that differ",
        "order of ranks", "slow GPUs", "uneven stages"}) {
    INFO(asymmetry);
    CHECK(count.with.at(asymmetry) >= 30);
  }
  CHECK(count.of_groups.at("experts") >= 30);  // that exchange tokens in pairs
  CHECK(count.of_groups.at("context") >= 30);
}

TEST_CASE("sent by programs, 300 of them end at the same picosecond folded and unfolded") {
  const payoff::test::FoldingCount count = payoff::test::compare_folded(1, 300, true);
  CHECK(2 * count.uneven >= count.all.jobs);
  CHECK(4 * count.late >= count.all.jobs);
  CHECK(10 * count.all.send_classes < 9 * count.all.sends);
}
