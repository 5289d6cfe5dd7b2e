// SPDX-License-Identifier: Apache-2.0
// Laws of kernels from samples whose truth is known: an invented GPU with noise, outliers and a
// clock that was held down.
#include "calibrate/kernel_fit.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "calibrate/sample_summary.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double noise = 0.03;           // of one sample
constexpr std::size_t repetitions = 25;  // a point

// Not std::normal_distribution, whose numbers differ between libraries: the sum of 12 uniforms.
class Noise {
 public:
  explicit Noise(unsigned seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 5U) * 0x1.0p-27; }
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
      sum += uniform();
    }
    return sum;
  }

 private:
  std::mt19937 bits_;
};

using Truth = std::function<double(const KernelPoint&)>;  // us

KernelPoint of_size(double megabytes) {
  KernelPoint point;
  point.bytes = megabytes * 1_MB;
  return point;
}

// 32 KiB to 2 GiB, as a copy is swept.
std::vector<KernelPoint> swept() {
  std::vector<KernelPoint> points;
  for (double size = 0.032768; size < 2200.0; size *= 2.0) {
    points.push_back(of_size(size));
  }
  return points;
}

struct Disturbance {
  double throttled{};  // share of samples that take 1.6 times as long
  double outliers{};   // share that takes up to 5 times as long
};

std::vector<KernelPoint> measured(std::vector<KernelPoint> points, const Truth& truth,
                                  Noise& random, const Disturbance& disturbance = {}) {
  for (KernelPoint& point : points) {
    std::vector<Seconds> samples;
    for (std::size_t i = 0; i < repetitions; ++i) {
      double factor = 1.0 + noise * random.normal();
      const double chance = random.uniform();
      if (chance < disturbance.throttled) {
        factor *= 1.6;
      } else if (chance < disturbance.throttled + disturbance.outliers) {
        factor *= 1.5 + 3.5 * random.uniform();
      }
      samples.push_back(factor * truth(point) * 1_us);
    }
    const SampleSummary summary = summarize_samples(samples, 0, 1.0);
    point.time = summary.median;
    // The width of 25 samples is known to a seventh: what all points share is known better.
    point.relative_sd = 1.2533 * noise / std::sqrt(static_cast<double>(summary.kept));
  }
  return points;
}

double copy_us(const KernelPoint& point) {  // 3 us, 5 TB/s to 50 MB, 3 TB/s beyond
  const double size = point.bytes / 1_MB;
  return 3.0 + std::min(size, 50.0) / 5.0 + std::max(0.0, size - 50.0) / 3.0;
}

const KernelConstant& constant(const KernelFit& fit, const std::string& name) {
  for (const KernelConstant& each : fit.constants) {
    if (each.name == name) {
      return each;
    }
  }
  FAIL("no constant " << name);
  return fit.constants.front();
}

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
      held[j] += std::abs(each.value - constants[j]) < 1.645 * each.sd ? 1.0 : 0.0;
    }
  }
  for (double& share : held) {
    share /= static_cast<double>(draws);
  }
  return held;
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

TEST_CASE("intervals of 90 % hold the truth nine times in ten") {
  // Wider than 90 % where the points' scatter happens to exceed their noise: 0.88 to 0.97.
  const auto in_line = [](const KernelPoint& point) { return 2.8 + point.bytes / 1_MB / 2.6; };
  for (const double share : coverage(swept(), KernelForm::affine, in_line, {2.8, 2600.0}, 1000)) {
    CHECK(share > 0.88);
    CHECK(share < 0.97);
  }
  for (const double share :
       coverage(swept(), KernelForm::two_bandwidths, copy_us, {3.0, 5000.0, 3000.0}, 1000)) {
    CHECK(share > 0.85);
    CHECK(share < 0.98);
  }
}

TEST_CASE("they do so too where the clock was slow now and then, and among outliers") {
  const auto in_line = [](const KernelPoint& point) { return 2.8 + point.bytes / 1_MB / 2.6; };
  for (const double share :
       coverage(swept(), KernelForm::affine, in_line, {2.8, 2600.0}, 1000, {0.05, 0.03})) {
    CHECK(share > 0.88);
    CHECK(share < 0.97);
  }
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
