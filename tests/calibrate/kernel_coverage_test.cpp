// SPDX-License-Identifier: Apache-2.0
// How often the intervals of a law hold the truth, over 1,000 draws of its samples.
//
// An interval of 90 % is +- 1.645 standard deviations. The covariance is widened by the scatter of
// the points where that exceeds their noise, so that of f degrees of freedom it is wider by
// max(1, sqrt(chi^2_f / f)), which in a linear law is independent of the estimate: the truth is
// held with probability E[erf(1.645 max(1, sqrt(chi^2_f / f)) / sqrt 2)], 0.916 for 15 and 0.917
// for 13 degrees of freedom. Of n draws the share that holds it is binomial, with the standard
// deviation sqrt(p (1 - p) / n); 3.29 of them are left once in 1,000 times. The knee is no linear
// constant: that the same bound holds is what the column for it is worth. Neither is the side of a
// product's maximum that a point is on.
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

double bound_around(double share) {
  return 3.29 * std::sqrt(share * (1.0 - share) / draws_of_samples);
}

void check_coverage(const std::vector<KernelPoint>& points, KernelForm form, const Truth& truth,
                    const std::vector<double>& constants, const Disturbance& disturbance = {}) {
  const double expected = expected_share(points.size() - constants.size());
  const double bound = bound_around(expected);
  for (const double share :
       coverage(points, form, truth, constants, draws_of_samples, disturbance)) {
    INFO(name(form) << ", expected " << expected << " +- " << bound);
    CHECK_THAT(share, WithinAbs(expected, bound));
  }
}

void check_coverage(KernelForm form, const Truth& truth, const std::vector<double>& constants,
                    const Disturbance& disturbance = {}) {
  check_coverage(swept(), form, truth, constants, disturbance);
}

// Top-K of 1/1000, 1/100 and 1/10, of sizes from `elements` on.
std::vector<KernelPoint> selections(double elements) {
  std::vector<KernelPoint> points;
  for (; elements < 3e8; elements *= 4.0) {
    for (const double ratio : {0.001, 0.01, 0.1}) {
      points.push_back(of_size(8.0 * elements / 1e6));
      points.back().kept = ratio * elements;
    }
  }
  return points;
}

Truth selection_us(double start) {
  return [start](const KernelPoint& point) {
    return start + point.bytes / 1_MB / 2.2 + 4e-4 * point.kept;
  };
}

// Square and narrow products: half of them bound by arithmetic, half by memory.
std::vector<KernelPoint> products() {
  std::vector<KernelPoint> points;
  for (const double side : {1024.0, 2048.0, 4096.0, 8192.0}) {
    for (const double depth : {2.0, 8.0, 16.0, side, 2.0 * side, 4.0 * side}) {
      points.push_back(of_size(2.0 * (2.0 * side * depth + side * side) / 1e6));
      points.back().flops = Flops{2.0 * side * side * depth};
    }
  }
  return points;
}

std::vector<KernelPoint> of_ranks() {
  std::vector<KernelPoint> points;
  for (const double rank : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    for (const double megabytes : {0.1, 1.0, 10.0, 100.0}) {
      points.push_back(of_size(megabytes));
      points.back().rank = rank;
    }
  }
  return points;
}

std::vector<KernelPoint> scattered() {
  std::vector<KernelPoint> points;
  for (const double elements : {1e5, 1e6, 1e7, 1e8}) {
    for (const double share : {0.001, 0.01, 0.1, 0.5}) {
      points.push_back(of_size(4.0 * elements / 1e6));
      points.back().random_accesses = share * elements;
    }
  }
  return points;
}

// Of a constant that is `start` standard deviations above its bound at zero, by drawing: an
// estimate below the bound is put there, which adds its distance to the scatter.
double expected_at_bound(double start, std::size_t freedom) {
  constexpr int draws = 20000;
  Noise random(6);
  int held = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const double unbounded = start + random.normal();
    double squares = std::pow(std::min(0.0, unbounded), 2.0);
    for (std::size_t i = 0; i < freedom; ++i) {
      squares += std::pow(random.normal(), 2.0);
    }
    const double wider = std::max(1.0, std::sqrt(squares / static_cast<double>(freedom)));
    held += std::abs(std::max(0.0, unbounded) - start) < standard_deviations * wider ? 1 : 0;
  }
  return held / static_cast<double>(draws);
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

TEST_CASE("so do those of Top-K, of scattered sums, of products and of both orthogonalisations") {
  check_coverage(selections(65536.0), KernelForm::select, selection_us(25.0), {25.0, 2200.0, 0.4});
  check_coverage(scattered(), KernelForm::scatter,
                 [](const KernelPoint& point) {
                   return 8.0 + point.bytes / 1_MB / 2.0 + 1e-3 * point.random_accesses;
                 },
                 {8.0, 2000.0, 1.0});
  check_coverage(products(), KernelForm::product,
                 [](const KernelPoint& point) {
                   return 4.0 + std::max(point.flops.si / 6e8, point.bytes / 1_MB / 2.9);
                 },
                 {4.0, 600.0, 2900.0});
  check_coverage(
      of_ranks(), KernelForm::columns,
      [](const KernelPoint& point) { return point.rank * (6.0 + point.bytes / 1_MB / 0.5); },
      {6.0, 500.0});
  check_coverage(of_ranks(), KernelForm::factorization,
                 [](const KernelPoint& point) {
                   return 20.0 + 0.3 * point.rank * point.rank + point.bytes / 1_MB / 1.5;
                 },
                 {20.0, 0.3, 1500.0});
}

// Of large tensors alone the start is within the noise, and the estimate often at its bound: that
// counted as known would be held no more often than it is not at the bound.
TEST_CASE("the start of a Top-K that the points hardly tell is held as often as it should") {
  const std::vector<KernelPoint> points = selections(16e6);
  std::vector<KernelPoint> exact = points;
  for (KernelPoint& point : exact) {
    point.time = selection_us(1.0)(point) * 1_us;
    point.relative_sd = 1.2533 * noise / std::sqrt(static_cast<double>(repetitions));
  }
  const double sd = fit_kernel(exact, KernelForm::select)->constants.front().sd;
  for (const double starts : {0.3, 1.0, 2.0}) {
    const double start = starts * sd;
    const double share = coverage(points, KernelForm::select, selection_us(start),
                                  {start, 2200.0, 0.4}, draws_of_samples)
                             .front();
    const double expected = expected_at_bound(starts, points.size() - 3);
    INFO(starts << " standard deviations above zero, expected " << expected);
    CHECK_THAT(share, WithinAbs(expected, bound_around(expected)));
  }
}
