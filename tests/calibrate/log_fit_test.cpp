// SPDX-License-Identifier: Apache-2.0
#include "calibrate/log_fit.hpp"

#include <array>
#include <cmath>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// A product of powers is linear in the logarithms: p^2 q x.
double model(std::span<const double> p, double x) { return p[0] * p[0] * p[1] * x; }

std::vector<LogObservation> observations(const std::vector<double>& xs, double p, double q,
                                         double sd) {
  std::vector<LogObservation> result;
  for (const double x : xs) {
    const std::vector<double> values{p, q};
    result.push_back({model(values, x), sd, {0, 1}});
  }
  return result;
}

}  // namespace

TEST_CASE("a fit without noise and with wide priors finds the parameters") {
  const std::vector<LogParameter> parameters{{"p", 1, 10}, {"q", 1, 10}};
  const std::vector<LogObservation> seen{{8.0, 0.01, {0, 1}}, {3.0, 0.01, {0, 1}}};
  // p q = 8 and p / q = 3.
  const LogFit fit = fit_logarithms(parameters, seen, [](std::size_t i, std::span<const double> p) {
    return i == 0 ? p[0] * p[1] : p[0] / p[1];
  });
  CHECK(fit.converged);
  CHECK_THAT(fit.values[0], WithinRel(std::sqrt(24.0), 1e-4));
  CHECK_THAT(fit.values[1], WithinRel(std::sqrt(8.0 / 3), 1e-4));
}

// One observation of p alone with the width of the prior: the answer is half way, in logarithms,
// and its width is that of a mean of two.
TEST_CASE("a measurement as wide as the prior moves the parameter half way") {
  const std::vector<LogParameter> parameters{{"p", 1, 0.1}};
  const LogFit fit = fit_logarithms(parameters, {{1.1, 0.1, {0}}},
                                    [](std::size_t, std::span<const double> p) { return p[0]; });
  CHECK_THAT(fit.values[0], WithinRel(std::sqrt(1.1), 1e-6));
  CHECK_THAT(fit.log_sd(0), WithinRel(0.1 / std::sqrt(2.0), 1e-6));
}

TEST_CASE("a parameter that nothing moves keeps its prior and its width") {
  const std::vector<LogParameter> parameters{{"p", 2, 0.5}, {"unseen", 7, 0.3}};
  const LogFit fit = fit_logarithms(parameters, {{3.0, 0.1, {0}}},
                                    [](std::size_t, std::span<const double> p) { return p[0]; });
  CHECK_THAT(fit.values[1], WithinRel(7.0, 1e-12));
  CHECK_THAT(fit.log_sd(1), WithinRel(0.3, 1e-12));
}

// Only p^2 q is seen: the sum is sharp, the two apart are as wide as the priors leave them, and
// they are anticorrelated.
TEST_CASE("the covariance says what the measurements cannot tell apart") {
  const std::vector<LogParameter> parameters{{"p", 1, 0.5}, {"q", 1, 0.5}};
  const LogFit fit = fit_logarithms(parameters, observations({1, 2, 5}, 1.5, 0.8, 0.01),
                                    [](std::size_t i, std::span<const double> p) {
                                      return model(p, std::array{1.0, 2.0, 5.0}[i]);
                                    });
  const auto& c = fit.log_covariance;
  const double seen = 4 * c[0] + c[3] + 4 * c[1];
  CHECK(std::sqrt(seen) < 0.01);
  CHECK(fit.log_sd(0) > 0.2);
  CHECK(c[1] < 0);
  CHECK_THAT(c[1], WithinAbs(c[2], 1e-12));
}

TEST_CASE("one misread row in twenty does not bend the rest") {
  const std::vector<LogParameter> parameters{{"p", 1, 10}};
  std::vector<LogObservation> seen(19, LogObservation{2.0, 0.05, {0}});
  seen.push_back({2000.0, 0.05, {0}});  // a unit slipped
  const LogFit fit =
      fit_logarithms(parameters, seen, [](std::size_t, std::span<const double> p) { return p[0]; });
  CHECK_THAT(fit.values[0], WithinRel(2.0, 0.02));
  CHECK_THAT(fit.log_residuals[19], WithinAbs(std::log(fit.values[0] / 2000), 1e-12));
}
