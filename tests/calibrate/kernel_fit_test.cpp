// SPDX-License-Identifier: Apache-2.0
// Laws of kernels from samples whose truth is known: an invented GPU with noise, outliers and a
// clock that was held down.
#include "calibrate/kernel_fit.hpp"

#include <array>
#include <cmath>

#include "calibrate/sample_summary.hpp"
#include "tests/calibrate/invented_kernel.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

const KernelConstant& constant(const KernelFit& fit, const std::string& name) {
  for (const KernelConstant& each : fit.constants) {
    if (each.name == name) {
      return each;
    }
  }
  FAIL("no constant " << name);
  return fit.constants.front();
}

}  // namespace

TEST_CASE("a sweep through the cache shows two bandwidths and the knee between them") {
  Noise random(7);
  const KernelFit fit = fit_kernel(measured(swept(), copy_us, random));
  REQUIRE(fit.form == KernelForm::two_bandwidths);
  CHECK_THAT(constant(fit, "t0_us").value, WithinRel(3.0, 0.03));
  CHECK_THAT(constant(fit, "b1_gb_per_s").value, WithinRel(5000.0, 0.05));
  CHECK_THAT(constant(fit, "b2_gb_per_s").value, WithinRel(3000.0, 0.03));
  CHECK_THAT(constant(fit, "knee_mb").value, WithinRel(50.0, 0.5));
  CHECK(fit.rms_error < 0.02);
  CHECK(fit.left_out_error.value() < 0.05);
}

TEST_CASE("samples of a slowed clock and outliers do not move a law") {
  Noise random(11);
  const auto points = measured(swept(), copy_us, random, {0.08, 0.05});
  const KernelFit fit = fit_kernel(points);
  CHECK_THAT(constant(fit, "t0_us").value, WithinRel(3.0, 0.05));
  CHECK_THAT(constant(fit, "b2_gb_per_s").value, WithinRel(3000.0, 0.05));
}

TEST_CASE("a straight line is not given a knee, and one size is a constant") {
  Noise random(3);
  const auto in_line = [](const KernelPoint& point) { return 2.8 + point.bytes / 1_MB / 2.6; };
  CHECK(fit_kernel(measured(swept(), in_line, random)).form == KernelForm::affine);
  const KernelFit one = fit_kernel(measured({of_size(1.0)}, in_line, random));
  CHECK(one.form == KernelForm::constant);
  CHECK(one.covers(of_size(1.0)));
  CHECK(!one.covers(of_size(1.1)));
}

TEST_CASE("Top-K is priced by what it reads and by what it keeps") {
  Noise random(5);
  std::vector<KernelPoint> points;
  for (double elements = 65536.0; elements < 3e8; elements *= 4.0) {
    for (const double ratio : {0.001, 0.01, 0.1}) {
      points.push_back(of_size(8.0 * elements / 1e6));
      points.back().kept = ratio * elements;
    }
  }
  const auto truth = [](const KernelPoint& point) {
    return 25.0 + point.bytes / 1_MB / 2.2 + 4e-4 * point.kept;
  };
  const KernelFit fit = fit_kernel(measured(points, truth, random));
  REQUIRE(fit.form == KernelForm::select);
  CHECK_THAT(constant(fit, "b_gb_per_s").value, WithinRel(2200.0, 0.05));
  CHECK_THAT(constant(fit, "kept_ns").value, WithinRel(0.4, 0.05));
}

TEST_CASE("a product is bounded by its arithmetic or by its traffic, whichever is longer") {
  Noise random(9);
  std::vector<KernelPoint> points;
  for (const std::array<double, 3>& shape : {std::array{1024.0, 1024.0, 1024.0},
                                             {4096.0, 4096.0, 4096.0},
                                             {8192.0, 8192.0, 8192.0},
                                             {4096.0, 4096.0, 4.0},
                                             {12288.0, 4096.0, 32.0},
                                             {16384.0, 8192.0, 16.0},
                                             {2048.0, 12288.0, 4096.0},
                                             {8192.0, 8192.0, 8.0},
                                             {1024.0, 4096.0, 2.0}}) {
    const auto [m, n, k] = shape;
    points.push_back(of_size(2.0 * (m * k + k * n + m * n) / 1e6));
    points.back().flops = Flops{2.0 * m * n * k};
  }
  const auto truth = [](const KernelPoint& point) {
    return 4.0 + std::max(point.flops.si / 6e8, point.bytes / 1_MB / 2.9);
  };
  const KernelFit fit = fit_kernel(measured(points, truth, random));
  REQUIRE(fit.form == KernelForm::product);
  CHECK_THAT(constant(fit, "rate_tflop_per_s").value, WithinRel(600.0, 0.03));
  CHECK_THAT(constant(fit, "b_gb_per_s").value, WithinRel(2900.0, 0.05));
  CHECK_THAT(constant(fit, "t0_us").value, WithinRel(4.0, 0.1));
}

// 10 us for 1024 cubed to 3,000 us for 8192 cubed: 4 us and 344 TFLOP/s are within a tenth of every
// point. Fitted on the side of its traffic, the smallest would pull all others off.
TEST_CASE("no point of a product is fitted on a side where the law does not put it") {
  std::vector<KernelPoint> points;
  for (const auto& [side, us] : {std::pair{1024.0, 10.0}, {2048, 60}, {4096, 400}, {8192, 3000}}) {
    points.push_back(of_size(6.0 * side * side / 1e6));
    points.back().flops = Flops{2.0 * side * side * side};
    points.back().time = us * 1_us;
    points.back().relative_sd = 0.01;
  }
  double squares = 0.0;
  for (const KernelPoint& point : points) {
    const double by_hand = (3.9_us + point.flops / 344_TFLOPps) / point.time - 1.0;
    squares += by_hand * by_hand;
  }
  const KernelFit fit = fit_kernel(points, KernelForm::product).value();
  CHECK(fit.rms_error <= std::sqrt(squares / 4.0));
  // The misfit of the law is that of its constants as well: 1 % of noise would be told far better.
  CHECK(constant(fit, "rate_tflop_per_s").sd > 0.02 * constant(fit, "rate_tflop_per_s").value);
}

TEST_CASE("orthogonalisation column by column costs by the column") {
  Noise random(13);
  std::vector<KernelPoint> points;
  for (const double rows : {1024.0, 4096.0, 16384.0}) {
    for (double rank = 1.0; rank < 65.0; rank *= 2.0) {
      points.push_back(of_size(8.0 * rows * rank / 1e6));
      points.back().rank = rank;
      points.back().flops = Flops{2.0 * rows * rank * rank};
    }
  }
  const auto truth = [](const KernelPoint& point) {
    return point.rank * (6.0 + point.bytes / 1_MB / 0.3);
  };
  const KernelFit fit = fit_kernel(measured(points, truth, random));
  REQUIRE(fit.form == KernelForm::columns);
  CHECK_THAT(constant(fit, "column_us").value, WithinRel(6.0, 0.03));
  CHECK_THAT(constant(fit, "b_gb_per_s").value, WithinRel(300.0, 0.05));
}

// A step of PowerSGD, operator by operator: Gram-Schmidt launches by the rank, the factors'
// products multiply and the gradients stream.
TEST_CASE("a chain whose launches depend on the rank is priced by its launches") {
  Noise random(23);
  std::vector<KernelPoint> points;
  for (const double side : {512.0, 1024.0, 4096.0}) {
    for (double rank = 1.0; rank < 65.0; rank *= 2.0) {
      points.push_back(of_size((44.0 * side * side + 40.0 * side * rank) / 1e6));
      points.back().rank = rank;
      points.back().flops = Flops{6.0 * side * side * rank};
      points.back().launches = 14.0 + 13.0 * rank;
    }
  }
  const auto truth = [](const KernelPoint& point) {
    return 3.0 * point.launches + point.bytes / 1_MB / 2.0 + point.flops / 20_TFLOPps / 1_us;
  };
  const KernelFit fit = fit_kernel(measured(points, truth, random));
  REQUIRE(fit.form == KernelForm::chain);
  CHECK_THAT(constant(fit, "launch_us").value, WithinRel(3.0, 0.02));
  CHECK_THAT(constant(fit, "b_gb_per_s").value, WithinRel(2000.0, 0.05));
  CHECK_THAT(constant(fit, "rate_tflop_per_s").value, WithinRel(20.0, 0.1));
  CHECK(fit.rms_error < 0.01);
}

TEST_CASE("a law covers no share, rank or number of accesses that it was not fitted to") {
  std::vector<KernelPoint> points;
  for (const double elements : {1e5, 1e6, 1e7}) {
    for (const double ratio : {0.001, 0.01}) {
      points.push_back(of_size(8.0 * elements / 1e6));
      points.back().ratio = ratio;
      points.back().kept = ratio * elements;
      points.back().rank = ratio > 0.005 ? 8.0 : 1.0;
      points.back().random_accesses = 1000.0;
      points.back().time = 10_us + points.back().bytes / 1_TBps;
      points.back().relative_sd = 0.01;
    }
  }
  const KernelFit fit = fit_kernel(points);
  const KernelPoint& inside = points[2];
  CHECK(fit.covers(inside));
  const auto beyond = [&](auto change) {
    KernelPoint other = inside;
    change(other);
    return !fit.covers(other);
  };
  CHECK(beyond([](KernelPoint& point) { point.ratio = 0.1; }));
  CHECK(beyond([](KernelPoint& point) { point.rank = 32.0; }));
  CHECK(beyond([](KernelPoint& point) { point.random_accesses = 1e6; }));
  CHECK(!beyond([](KernelPoint& point) { point.ratio = 0.005; }));
}

TEST_CASE("a constant that the points do not tell is named") {
  Noise random(17);
  // Nothing but large tensors: what a launch takes drowns in their time.
  std::vector<KernelPoint> points;
  for (double size = 4000.0; size < 30000.0; size *= 1.5) {
    points.push_back(of_size(size));
  }
  const auto truth = [](const KernelPoint& point) { return 3.0 + point.bytes / 1_MB / 2.5; };
  const auto fit = fit_kernel(measured(points, truth, random), KernelForm::affine);
  REQUIRE(fit);
  CHECK(!constant(*fit, "t0_us").determined);
  CHECK(constant(*fit, "b_gb_per_s").determined);
  // Equal sizes tell no bandwidth at all.
  CHECK(!fit_kernel(std::vector<KernelPoint>(4, of_size(1.0)), KernelForm::affine));
}

TEST_CASE("drawing the points anew gives the width that the covariance says") {
  Noise random(19);
  const auto in_line = [](const KernelPoint& point) { return 2.8 + point.bytes / 1_MB / 2.6; };
  const auto points = measured(swept(), in_line, random);
  const KernelFit fit = fit_kernel(points, KernelForm::affine).value();
  const std::vector<double> drawn = bootstrap_sd(points, fit, 400);
  for (std::size_t j = 0; j < drawn.size(); ++j) {
    // The covariance may be wider: it takes the scatter of these points into account.
    CHECK(drawn[j] > 0.5 * fit.constants[j].sd);
    CHECK(drawn[j] < 1.15 * fit.constants[j].sd);
  }
}

TEST_CASE("samples that mean nothing are refused, with the reason") {
  const std::vector<Seconds> steady(20, 10.0 * 1_us);
  CHECK(summarize_samples(steady, 0, 1.0).refused.empty());
  CHECK(!summarize_samples({}, 40, 1.0).refused.empty());
  CHECK(!summarize_samples(steady, 21, 1.0).refused.empty());
  CHECK(!summarize_samples(steady, 0, 0.7).refused.empty());
  std::vector<Seconds> unsteady = steady;
  for (std::size_t i = 0; i < 6; ++i) {
    unsteady[i] = (20.0 + static_cast<double>(i)) * 1_us;
  }
  CHECK(!summarize_samples(unsteady, 0, 1.0).refused.empty());
}

TEST_CASE("three samples are too few to call one of them an outlier") {
  const std::vector<Seconds> few{10.0 * 1_us, 10.01 * 1_us, 10.4 * 1_us};
  const SampleSummary summary = summarize_samples(few, 0, 1.0);
  CHECK(summary.refused.empty());
  CHECK(summary.outliers == 0);
  CHECK_THAT(summary.median / 1_us, WithinAbs(10.01, 1e-9));
}

TEST_CASE("outliers are left out of a median, and quartiles are those of the rest") {
  std::vector<Seconds> samples;
  for (int i = 1; i <= 9; ++i) {
    samples.push_back((100.0 + i) * 1_us);
  }
  samples.push_back(900.0 * 1_us);
  const SampleSummary summary = summarize_samples(samples, 0, 1.0);
  CHECK(summary.outliers == 1);
  CHECK_THAT(summary.median / 1_us, WithinAbs(105.0, 1e-9));
  CHECK_THAT(summary.first_quartile / 1_us, WithinAbs(103.0, 1e-9));
  CHECK_THAT(summary.third_quartile / 1_us, WithinAbs(107.0, 1e-9));
}

TEST_CASE("drift is how far copies of one run differ") {
  CHECK(drift_of({}) == 0.0);
  CHECK_THAT(drift_of(std::array{3.0_TBps, 3.3_TBps, 3.1_TBps}), WithinRel(0.1, 1e-9));
}
