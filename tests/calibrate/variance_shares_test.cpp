// SPDX-License-Identifier: Apache-2.0
#include "calibrate/variance_shares.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;

namespace {

// A grid of two variables whose first moments are those of independent ones of variance 1.
std::vector<std::vector<double>> grid() {
  std::vector<std::vector<double>> draws;
  for (const double a : {-1.5, -0.5, 0.5, 1.5}) {
    for (const double b : {-1.5, -0.5, 0.5, 1.5}) {
      draws.push_back({a, b});
    }
  }
  return draws;
}

template <class Function>
std::vector<double> shares(const Function& value) {
  std::vector<double> values;
  for (const std::vector<double>& draw : grid()) {
    values.push_back(value(draw[0], draw[1]));
  }
  return variance_shares(grid(), values);
}

}  // namespace

TEST_CASE("a sum divides its variance among its terms") {
  const std::vector<double> found = shares([](double a, double b) { return 3 * a + b; });
  CHECK_THAT(found[0], WithinAbs(0.9, 1e-9));
  CHECK_THAT(found[1], WithinAbs(0.1, 1e-9));
}

TEST_CASE("what bends counts for the variable that it bends with") {
  const std::vector<double> found = shares([](double a, double b) { return a * a + 0 * b; });
  CHECK_THAT(found[0], WithinAbs(1.0, 1e-9));
  CHECK_THAT(found[1], WithinAbs(0.0, 1e-9));
}

TEST_CASE("variables that only act together have no share of their own") {
  const std::vector<double> found = shares([](double a, double b) { return a * b; });
  CHECK_THAT(found[0], WithinAbs(0.0, 1e-9));
  CHECK_THAT(found[1], WithinAbs(0.0, 1e-9));
}

TEST_CASE("too few draws, or a value that does not vary, divide nothing") {
  CHECK(variance_shares({{1.0, 2.0}, {0.5, 1.0}}, {1.0, 2.0}) == std::vector<double>(2, 0.0));
  CHECK(shares([](double, double) { return 7.0; }) == std::vector<double>(2, 0.0));
  CHECK(variance_shares({}, {}).empty());
}
