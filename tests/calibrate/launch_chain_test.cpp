// SPDX-License-Identifier: Apache-2.0
#include "calibrate/launch_chain.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

TEST_CASE("a launch is the slope over the length of chains, whatever a chain costs but once") {
  std::vector<LaunchChain> chains;
  for (const double launches : {1.0, 10.0, 100.0}) {
    chains.push_back({launches, 3.0 + 4.0 * launches, 0.01});
  }
  CHECK_THAT(fit_launch_chains(chains).value().time_us, WithinRel(4.0, 1e-6));
}

// 4 us with 1 % and 5 us with 2 %: weights 1 / 0.04^2 = 625 and 1 / 0.1^2 = 100.
TEST_CASE("chains of one length give the mean weighted by their noise, with its deviation") {
  const LaunchTime found =
      fit_launch_chains(std::array{LaunchChain{10, 40, 0.01}, LaunchChain{10, 50, 0.02}}).value();
  const double mean = (625 * 4.0 + 100 * 5.0) / 725;
  CHECK_THAT(found.time_us, WithinRel(mean, 1e-12));
  // They are further from each other than their noise says: chi^2 of one degree of freedom.
  const double squares = 625 * (4 - mean) * (4 - mean) + 100 * (5 - mean) * (5 - mean);
  CHECK(squares > 1);
  CHECK_THAT(found.relative_sd, WithinRel(std::sqrt(squares / 725) / mean, 1e-12));
}

TEST_CASE("chains that agree are as sure as their noise lets their mean be, not surer") {
  const std::vector<LaunchChain> same(4, LaunchChain{10, 40, 0.02});
  const LaunchTime found = fit_launch_chains(same).value();
  CHECK_THAT(found.time_us, WithinRel(4.0, 1e-12));
  CHECK_THAT(found.relative_sd, WithinRel(0.02 / 2, 1e-12));  // of the mean of four
  const LaunchTime one = fit_launch_chains(std::array{LaunchChain{1, 4, 0.02}}).value();
  CHECK_THAT(one.relative_sd, WithinRel(0.02, 1e-12));
}

TEST_CASE("no chain that took time says nothing") {
  CHECK_FALSE(fit_launch_chains({}).has_value());
  CHECK_FALSE(
      fit_launch_chains(std::array{LaunchChain{0, 4, 0.1}, LaunchChain{5, 0, 0.1}}).has_value());
}
