// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/clock_ratio.hpp"

#include <array>

#include "tests/catch.hpp"

using namespace payoff::kernels;
using Catch::Matchers::WithinRel;

TEST_CASE("a clock is told by the multiprocessors that have a stamp at both ends") {
  // 100 us at 1.5 GHz are 150,000 cycles, of 2 GHz to expect; counters start anywhere.
  const std::array<ClockStamp, 4> before{
      {{1, 5'000, 1'000'000}, {1, 9, 1'000'100}, {0, 0, 0}, {1, 7, 1'000'000}}};
  std::array<ClockStamp, 4> after{{{1, 155'000, 1'100'000},
                                   {1, 150'009, 1'100'100},
                                   {1, 400, 1'100'000},
                                   {1, 100'007, 1'100'000}}};
  CHECK_THAT(clock_ratio_of(before, after, 2e9), WithinRel(0.75, 1e-12));  // of .5, .75 and .75
  after[0].taken = 0;
  after[1].taken = 0;
  CHECK_THAT(clock_ratio_of(before, after, 2e9), WithinRel(0.5, 1e-12));
  after[3].time = before[3].time + 1'000;  // too short for the timer
  CHECK(clock_ratio_of(before, after, 2e9) == 1.0);
  CHECK(clock_ratio_of({}, {}, 2e9) == 1.0);
}
