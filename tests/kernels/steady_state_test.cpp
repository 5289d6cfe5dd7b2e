// SPDX-License-Identifier: Apache-2.0
// Runs are counted in the window in which all queues run, on invented ends of parts.
#include "kernels/harness/steady_state.hpp"

#include <array>

#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;
using Catch::Matchers::WithinRel;

namespace {

// Two queues whose runs take `alone` by themselves and share a machine evenly: each has half of it
// while both have work, all of it after that.
std::array<Timeline, 2> shared_evenly(const std::array<Seconds, 2>& alone, double runs_a_part,
                                      std::size_t parts) {
  std::array<Timeline, 2> timelines;
  std::array<Seconds, 2> left;
  std::array<std::size_t, 2> done{};
  for (std::size_t i = 0; i < 2; ++i) {
    timelines[i].runs_a_part = runs_a_part;
    left[i] = runs_a_part * alone[i];
  }
  Seconds now;
  while (done[0] < parts || done[1] < parts) {
    const bool both = done[0] < parts && done[1] < parts;
    const double rate = both ? 0.5 : 1.0;
    const std::size_t next = done[0] == parts || (both && left[1] < left[0]) ? 1 : 0;
    const Seconds work = left[next];
    now += work / rate;
    for (std::size_t i = 0; i < 2; ++i) {
      left[i] -= done[i] < parts ? work : 0_s;
    }
    timelines[next].ends.push_back(now);
    left[next] = runs_a_part * alone[next];
    ++done[next];
  }
  return timelines;
}

}  // namespace

TEST_CASE("what two queues share evenly takes twice as long, however long their runs are") {
  const double ratio = GENERATE(1.0, 1.3, 3.7, 10.0);
  const std::array<Seconds, 2> alone{100_us, ratio * 100_us};
  const auto timelines = shared_evenly(alone, 5.0, 200);
  const SteadyState state = steady_state(timelines, 10_ms);
  REQUIRE(state.refused.empty());
  // The shorter queue is empty first: what the longer one does after that does not count.
  CHECK(state.window <= timelines[0].ends.back());
  CHECK_THAT(state.times[0] / alone[0], WithinRel(2.0, 0.01));
  CHECK_THAT(state.times[1] / alone[1], WithinRel(2.0, 0.01));
}

TEST_CASE(
    "a queue that starts late or ends early shortens the window, it does not bend the times") {
  Timeline early;
  Timeline late{{}, 2.0};
  for (int i = 1; i <= 50; ++i) {
    early.ends.push_back(static_cast<double>(i) * 1_ms);
    late.ends.push_back(20_ms + static_cast<double>(i) * 1_ms);
  }
  const SteadyState state = steady_state(std::array{early, late}, 10_ms);
  REQUIRE(state.refused.empty());
  CHECK_THAT(state.window / 1_ms, WithinRel(29.0, 1e-9));
  CHECK_THAT(state.times[0] / 1_ms, WithinRel(1.0, 1e-9));
  CHECK_THAT(state.times[1] / 1_ms, WithinRel(0.5, 1e-9));
}

TEST_CASE("times of queues that hardly ran together are refused") {
  Timeline first{{1_ms, 2_ms, 3_ms, 4_ms}, 1.0};
  const Timeline after{{5_ms, 6_ms, 7_ms}, 1.0};
  const Timeline once{{1_ms, 4_ms}, 1.0};
  CHECK(!steady_state(std::array{first, after}, 0_s).refused.empty());
  CHECK(!steady_state(std::array{first, once}, 0_s).refused.empty());
  CHECK(!steady_state(std::array{first, first}, 10_ms).refused.empty());
  CHECK(!steady_state(std::array{first, Timeline{}}, 0_s).refused.empty());
  CHECK(steady_state(std::array{first, first}, 1_ms).refused.empty());
}
