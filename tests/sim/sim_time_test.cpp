// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_time.hpp"

#include <cmath>
#include <limits>

#include "sim/activity.hpp"
#include "sim/grid.hpp"
#include "tests/catch.hpp"

namespace payoff::sim {
namespace {

TEST_CASE("a time becomes the nearest picosecond and comes back") {
  CHECK(to_sim_time(Seconds{0.0}) == SimTime{0});
  CHECK(to_sim_time(Seconds{0.4e-12}) == SimTime{0});
  CHECK(to_sim_time(Seconds{0.6e-12}) == SimTime{1});
  CHECK(to_sim_time(5_us) == SimTime{5'000'000});
  CHECK(to_seconds(SimTime{5'000'000}).si == 5e-6);
}

TEST_CASE("the clock reaches 106 days, and what lies beyond does not become a time") {
  constexpr double day = 86400.0;
  CHECK(to_sim_time(Seconds{106.0 * day}).has_value());
  CHECK_FALSE(to_sim_time(Seconds{107.0 * day}).has_value());
  // 2^63 ps is the first that does not fit; the double before it is 1024 ps less.
  CHECK_FALSE(to_sim_time(Seconds{9223372.036854775808}).has_value());
  CHECK(to_sim_time(Seconds{9223372.0368547}) <= end_of_clock);
  CHECK_FALSE(to_sim_time(Seconds{-1e-12}).has_value());
  CHECK_FALSE(to_sim_time(Seconds{-1e-13}).has_value());
  CHECK_FALSE(to_sim_time(Seconds{std::numeric_limits<double>::infinity()}).has_value());
  CHECK_FALSE(to_sim_time(Seconds{std::nan("")}).has_value());
}

TEST_CASE("a date beyond the clock is never, not a wrapped number") {
  CHECK(end_of_clock + SimTime{0} == end_of_clock);
  CHECK(end_of_clock + SimTime{1} == never);
  CHECK(end_of_clock + SimTime{2} == never);
  CHECK(end_of_clock + end_of_clock == never);
  CHECK(never + never == never);
}

TEST_CASE("a run that comes to the end of the clock says so under what was asked for") {
  const Problem problem = beyond_clock("network.latency");
  CHECK(problem.path == "network.latency");
  CHECK_THAT(problem.message, Catch::Matchers::ContainsSubstring("106 days"));
}

TEST_CASE("rates and sizes are whole multiples of 1/64, and none that is positive becomes zero") {
  CHECK(to_rate(1_GBps) == Rate{64'000'000'000});
  CHECK(to_bandwidth(*to_rate(Bandwidth{1.015625})).si == 1.015625);  // 65/64
  CHECK(to_rate(Bandwidth{1e-9}) == Rate{1});
  CHECK_FALSE(to_rate(Bandwidth{0.0}));
  CHECK_FALSE(to_rate(Bandwidth{-1.0}));
  CHECK_FALSE(to_rate(Bandwidth{std::nan("")}));
  CHECK_FALSE(to_rate(Bandwidth{0x1p57}));
  CHECK(to_rate(Bandwidth{0x1p56}) == Rate{std::uint64_t{1} << 62U});
  CHECK(to_bytes(*to_work(1_GiB)) == 1_GiB);
  CHECK(to_work(0_B) == Work{0});
  CHECK(to_work(Bytes{1e-9}) > Work{0});
  CHECK_FALSE(to_work(Bytes{-1.0}));
  CHECK_FALSE(to_work(Bytes{std::numeric_limits<double>::infinity()}));
}

TEST_CASE("work ends with the picosecond in which its last part is done") {
  const Rate rate = *to_rate(3_GBps);
  const Work work = *to_work(1_B);  // 333.3 ps
  CHECK(time_to_do(work, rate) == SimTime{334});
  CHECK(work_done(rate, SimTime{333}) < work);
  CHECK(work_done(rate, SimTime{334}) >= work);
  CHECK(time_to_do(*to_work(3_B), rate) == SimTime{1000});
}

TEST_CASE("work that ends with the clock has a date, and none a picosecond later") {
  // 1/64 byte/s does one unit of work a picosecond.
  const auto range = static_cast<std::uint64_t>(end_of_clock.picoseconds);
  CHECK(time_to_do(Work{range}, Rate{1}) == end_of_clock);
  CHECK(time_to_do(Work{range + 1}, Rate{1}) == never);
  CHECK(time_to_do(*to_work(Bytes{1e17}), Rate{1}) == never);
}

TEST_CASE("what a simulation cannot take is found with its field, all of it") {
  CHECK(check(Resource{1_GBps}, "links[0]").empty());
  CHECK(check(Resource{Bandwidth{0.0}}, "links[0]").front().path == "links[0].capacity");
  CHECK(check(Resource{Bandwidth{-1.0}}, "").front().path == "capacity");
  CHECK(check(Resource{Bandwidth{std::nan("")}}, "").size() == 1);
  CHECK(check(Resource{Bandwidth{1e18}}, "").size() == 1);

  const Use use[] = {{{0}, 1.0}};
  CHECK(check(Activity{.size = 1_MB, .uses = use}, "").empty());
  CHECK(check(Activity{.size = 1_MB, .rate_bound = 1_GBps}, "").empty());
  CHECK(check(Activity{.size = 1_MB}, "").front().path == "rate_bound");
  const Use bad_use[] = {{{0}, 0.0}, {{1}, -1.0}, {{2}, 1e9}, {{3}, std::nan("")}};
  const Activity bad{.size = Bytes{-1.0},
                     .uses = bad_use,
                     .rate_bound = Bandwidth{0.0},
                     .share_ratio = 0.0,
                     .latency = never};
  CHECK(check(bad, "send").size() == 8);
}

}  // namespace
}  // namespace payoff::sim
