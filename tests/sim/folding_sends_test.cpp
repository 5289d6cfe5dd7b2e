// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/sim/uneven_jobs.hpp"

// At level `steps` every send of a program is folded with its like.

using namespace payoff;

TEST_CASE("sent by programs, folded and unfolded steps end at the same picosecond on every rank") {
  const test::FoldingCount count = test::compare_folded(1, 100, true);
  CHECK(2 * count.uneven >= count.all.jobs);
  CHECK(count.all.places < count.all.ranks);
  CHECK(count.all.send_classes < count.all.sends);
  CHECK(4 * count.late >= count.all.jobs);
}
