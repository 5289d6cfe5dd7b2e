// SPDX-License-Identifier: Apache-2.0
// How often the intervals of a law hold the truth, over 1,000 draws of its samples.
//
// An interval of 90 % is +- 1.645 standard deviations. The covariance is widened by the scatter of
// the points where that exceeds their noise, so that of f degrees of freedom it is wider by
// max(1, sqrt(chi^2_f / f)), which in a linear law is independent of the estimate: the truth is
// held with probability E[erf(1.645 max(1, sqrt(chi^2_f / f)) / sqrt 2)], 0.916 for 15 and 0.917
// for 13 degrees of freedom. Of n draws the share that holds it is binomial, with the standard
// deviation sqrt(p (1 - p) / n); 3.29 of them are left once in 1,000 times. The knee is no linear
// constant: that the same bound holds is what the column for it is worth.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "calibrate/kernel_fit.hpp"
#include "tests/calibrate/invented_kernel.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;

namespace {

constexpr unsigned draws_of_samples = 1000;
constexpr double standard_deviations = 1.645;

// How often an interval of 90 % held the truth, for every constant.
std::vector<double> coverage(const std::vector<KernelPoint>& points, KernelForm form,
                             const Truth& truth, const std::vector<double>& constants,
                             unsigned draws, const Disturbance& disturbance = {}) {
  std::vector<double> held(constants.size(), 0.0);
  for (unsigned draw = 0; draw < draws; ++draw) {
    Noise random(1000 + draw);
    const auto fit = fit_kernel(measured(points, truth, random, disturbance), form);
    REQUIRE(fit);
    for (std::size_t j = 0; j < constants.size(); ++j) {
      const KernelConstant& each = fit->constants.at(j);
      held[j] += std::abs(each.value - constants[j]) < standard_deviations * each.sd ? 1.0 : 0.0;
    }
  }
  for (double& share : held) {
    share /= static_cast<double>(draws);
  }
  return held;
}

// By drawing the scatter, not by the formulas of the fit.
double expected_share(std::size_t freedom) {
  constexpr int draws = 20000;
  Noise random(5);
  double sum = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    double squares = 0.0;
    for (std::size_t i = 0; i < freedom; ++i) {
      squares += std::pow(random.normal(), 2.0);
    }
    const double wider = std::max(1.0, std::sqrt(squares / static_cast<double>(freedom)));
    sum += std::erf(standard_deviations * wider / std::sqrt(2.0));
  }
  return sum / draws;
}

void check_coverage(KernelForm form, const Truth& truth, const std::vector<double>& constants,
                    const Disturbance& disturbance = {}) {
  const std::size_t freedom = swept().size() - constants.size();
  const double expected = expected_share(freedom);
  const double bound = 3.29 * std::sqrt(expected * (1.0 - expected) / draws_of_samples);
  for (const double share :
       coverage(swept(), form, truth, constants, draws_of_samples, disturbance)) {
    INFO(name(form) << ", expected " << expected << " +- " << bound);
    CHECK_THAT(share, WithinAbs(expected, bound));
  }
}

double line_us(const KernelPoint& point) { return 2.8 + point.bytes / 1_MB / 2.6; }

constexpr Disturbance slow_now_and_then{0.05, 0.03};

}  // namespace

TEST_CASE("an interval that is widened by scatter alone holds the truth more than nine in ten") {
  CHECK_THAT(expected_share(15), WithinAbs(0.916, 0.002));
  CHECK_THAT(expected_share(13), WithinAbs(0.917, 0.002));
}

TEST_CASE("intervals of 90 % of a straight line hold the truth as often as they should") {
  check_coverage(KernelForm::affine, line_us, {2.8, 2600.0});
}

TEST_CASE("so do those of two bandwidths and of the knee between them") {
  check_coverage(KernelForm::two_bandwidths, copy_us, {3.0, 5000.0, 3000.0, 50.0});
}

TEST_CASE("they do so too where the clock was slow now and then, and among outliers") {
  check_coverage(KernelForm::affine, line_us, {2.8, 2600.0}, slow_now_and_then);
  check_coverage(KernelForm::two_bandwidths, copy_us, {3.0, 5000.0, 3000.0, 50.0},
                 slow_now_and_then);
}
