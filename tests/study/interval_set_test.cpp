// SPDX-License-Identifier: Apache-2.0
#include "study/interval_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

std::vector<int> range(int low, int high) {
  std::vector<int> points(static_cast<std::size_t>(high - low + 1));
  std::iota(points.begin(), points.end(), low);
  return points;
}

}  // namespace

TEST_CASE("a gain with one root pays on one side of it") {
  const auto below = find_payoff_set([](double x) { return 8.2 - x; }, log_spaced(1, 400, 20));
  REQUIRE(below.intervals.size() == 1);
  CHECK(below.intervals[0].low == 1);
  CHECK(below.intervals[0].open_low);
  CHECK_FALSE(below.intervals[0].open_high);
  CHECK_THAT(below.intervals[0].high, WithinRel(8.2, 1e-6));

  const auto above = find_payoff_set([](double x) { return x - 8.2; }, log_spaced(1, 400, 20));
  REQUIRE(above.intervals.size() == 1);
  CHECK_THAT(above.intervals[0].low, WithinRel(8.2, 1e-6));
  CHECK(above.intervals[0].open_high);
}

TEST_CASE("a cubic with three roots pays in two intervals") {
  const auto gain = [](double x) { return (x - 2) * (x - 5) * (x - 50); };
  const auto set = find_payoff_set(gain, log_spaced(1, 1000, 30));
  REQUIRE(set.intervals.size() == 2);
  CHECK_THAT(set.intervals[0].low, WithinRel(2.0, 1e-6));
  CHECK_THAT(set.intervals[0].high, WithinRel(5.0, 1e-6));
  CHECK_THAT(set.intervals[1].low, WithinRel(50.0, 1e-6));
  CHECK(set.intervals[1].open_high);
  CHECK_FALSE(set.always());
}

TEST_CASE("never and always speak of the range that was examined") {
  const auto never = find_payoff_set([](double) { return -1.0; }, log_spaced(1, 100, 5));
  CHECK(never.never());
  CHECK_FALSE(never.always());
  CHECK(never.scanned_low == 1);
  CHECK(never.scanned_high == 100);
  const auto always = find_payoff_set([](double) { return 1.0; }, log_spaced(1, 100, 5));
  CHECK(always.always());
  CHECK_FALSE(always.never());
}

TEST_CASE("no gain is no pay-off: a gain of zero everywhere never pays") {
  CHECK(find_payoff_set([](double) { return 0.0; }, log_spaced(1, 100, 9)).never());
}

TEST_CASE("a hill narrower than the distance of the points is found when it is smooth") {
  // Positive for |log10 x - 1.13| < 0.02 only; the points are 0.25 apart in log10.
  const auto gain = [](double x) { return 0.02 - std::abs(std::log10(x) - 1.13); };
  const auto set = find_payoff_set(gain, log_spaced(1, 100, 9));
  REQUIRE(set.intervals.size() == 1);
  CHECK_THAT(std::log10(set.intervals[0].low), WithinRel(1.11, 1e-5));
  CHECK_THAT(std::log10(set.intervals[0].high), WithinRel(1.15, 1e-5));
}

TEST_CASE("a valley narrower than the distance of the points divides an interval") {
  const auto gain = [](double x) { return std::abs(std::log10(x) - 1.13) - 0.02; };
  CHECK(find_payoff_set(gain, log_spaced(1, 100, 9)).intervals.size() == 2);
}

TEST_CASE("intervals that touch in an examined point stay two") {
  const auto gain = [](double x) { return std::abs(x - 10); };  // zero at 10, which does not pay
  const auto set = find_payoff_set(gain, {1, 5, 10, 20, 40});
  REQUIRE(set.intervals.size() == 2);
  CHECK_THAT(set.intervals[0].high, WithinRel(10.0, 1e-6));
  CHECK(set.intervals[0].high < 10);
  CHECK_THAT(set.intervals[1].low, WithinRel(10.0, 1e-6));
}

TEST_CASE("a step function is bracketed at its jumps") {
  const auto gain = [](double x) { return x < 3 ? -1.0 : (x < 30 ? 2.0 : -0.5); };
  const auto set = find_payoff_set(gain, log_spaced(1, 100, 7));
  REQUIRE(set.intervals.size() == 1);
  CHECK_THAT(set.intervals[0].low, WithinRel(3.0, 1e-6));
  CHECK_THAT(set.intervals[0].high, WithinRel(30.0, 1e-6));
}

TEST_CASE("a jump between two points is seen when it is named as a breakpoint") {
  // Pays in [7, 7.5) only, a box that no search for an extreme can feel.
  const auto gain = [](double x) { return x >= 7 && x < 7.5 ? 1.0 : -1.0; };
  const std::vector<double> coarse = log_spaced(1, 100, 5);
  CHECK(find_payoff_set(gain, coarse).never());
  const auto algorithm = [](double x) { return std::vector<int>{x < 7 ? 0 : (x < 20 ? 1 : 2)}; };
  const auto set = find_payoff_set(gain, with_breakpoints(coarse, algorithm));
  REQUIRE(set.intervals.size() == 1);
  CHECK_THAT(set.intervals[0].low, WithinRel(7.0, 1e-6));
  CHECK_THAT(set.intervals[0].high, WithinRel(7.5, 1e-6));
}

TEST_CASE("breakpoints keep the points ascending and within the range") {
  const auto signature = [](double x) { return std::vector<int>{static_cast<int>(x / 10)}; };
  const std::vector<double> points = with_breakpoints(log_spaced(1, 100, 4), signature);
  CHECK(std::is_sorted(points.begin(), points.end()));
  CHECK(std::adjacent_find(points.begin(), points.end()) == points.end());
  CHECK(points.front() == 1);
  CHECK(points.back() == 100);
}

TEST_CASE("on whole numbers the ends are the numbers themselves") {
  const auto set =
      find_integer_payoff_set([](double x) { return x - 37.5; }, {1, 2, 4, 8, 16, 32, 64, 128});
  REQUIRE(set.intervals.size() == 1);
  CHECK(set.intervals[0].low == 38);
  CHECK(set.intervals[0].high == 128);
  CHECK(set.intervals[0].open_high);
}

TEST_CASE("teeth around a change are all found") {
  // From 40 on it pays, except at multiples of 8 up to 56: {41..47}, {49..55}, {57..}.
  const auto gain = [](double x) {
    const int n = static_cast<int>(x);
    return n > 40 && !(n % 8 == 0 && n <= 56) ? 1.0 : -1.0;
  };
  const auto set = find_integer_payoff_set(gain, {1, 2, 4, 8, 16, 32, 64, 128});
  CHECK(set.intervals == std::vector<Interval<double>>{{41, 47, false, false},
                                                       {49, 55, false, false},
                                                       {57, 128, false, true}});
}

TEST_CASE("an integer axis examined everywhere equals its definition") {
  const auto gain = [](double x) { return std::sin(x); };
  const auto set = find_integer_payoff_set(gain, range(1, 60));
  for (int x = 1; x <= 60; ++x) {
    CHECK(set.contains(x) == (std::sin(x) > 0));
  }
}

TEST_CASE("an axis of one number answers for that number") {
  const auto set = find_integer_payoff_set([](double) { return 1.0; }, {5});
  CHECK(set.always());
  CHECK(set.intervals == std::vector<Interval<double>>{{5, 5, true, true}});
}

TEST_CASE("points by the decade have both ends, and as many between as are asked for") {
  const std::vector<double> points = log_spaced_by_decade(1, 100, 3);
  REQUIRE(points.size() == 2 + 2 * 3);  // both ends beside three for each of two decades
  CHECK(points.front() == 1.0);
  CHECK(points.back() == 100.0);
  CHECK(log_spaced_by_decade(1, 1.001, 3).size() == 3);  // of a part of a decade one
}
