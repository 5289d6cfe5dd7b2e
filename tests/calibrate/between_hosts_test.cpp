// SPDX-License-Identifier: Apache-2.0
#include "calibrate/between_hosts.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("a further host is expected at the median of those that were measured") {
  CHECK_THAT(between_hosts({4, 1}).median, WithinRel(2.0, 1e-12));
  CHECK_THAT(between_hosts({3, 16, 2}).median, WithinRel(3.0, 1e-12));
  // One odd pair of hosts moves it no further than to a neighbour.
  CHECK_THAT(between_hosts({3, 0.01, 3.2}).median, WithinRel(3.0, 1e-12));
}

TEST_CASE("the interval of a further host is Student's, wide while few are known") {
  // Two hosts a factor f apart: logarithms deviate by ln(f) / sqrt(2), a third one by
  // sqrt(1 + 1 / 2) of that, and with one degree of freedom 90 % lie within tan(0.45 pi) of it.
  const double factor = 3;
  const double expected =
      std::tan(0.45 * std::acos(-1.0)) * std::log(factor) / std::sqrt(2.0) * std::sqrt(1.5);
  const double two = between_hosts({1, factor}).log_sd;
  CHECK_THAT(1.6448536 * two, WithinRel(expected, 1e-4));
  // Many hosts: the sample's own deviation.
  std::vector<double> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(i % 2 == 0 ? 1 : factor);
  }
  CHECK_THAT(between_hosts(many).log_sd, WithinRel(std::log(factor) / 2, 0.015));
}

TEST_CASE("Student's quantiles are those of the tables, inside and beyond our own") {
  CHECK_THAT(student_quantile_95(2), WithinAbs(2.920, 5e-4));  // Abramowitz and Stegun, table 26.10
  CHECK_THAT(student_quantile_95(9), WithinAbs(1.833, 5e-4));
  CHECK_THAT(student_quantile_95(30), WithinAbs(1.697, 5e-4));
  CHECK_THAT(student_quantile_95(1'000'000), WithinAbs(1.645, 5e-4));
}
