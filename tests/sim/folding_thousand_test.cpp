// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/sim/uneven_jobs.hpp"

// The whole of what folding_test.cpp has a sample of.

TEST_CASE("a thousand folded and unfolded steps end at the same picosecond on every rank") {
  const payoff::test::FoldingCount count = payoff::test::compare_folded(1, 1000);
  CHECK(count.jobs == 1000);
  CHECK(2 * count.uneven >= count.jobs);
}
