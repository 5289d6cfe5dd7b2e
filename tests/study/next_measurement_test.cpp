// SPDX-License-Identifier: Apache-2.0
#include "study/next_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "study/spread.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

using Kind = PossibleMeasurement::Kind;

constexpr double mean = 0.02;  // of ln(speedup)
constexpr double of_compute = 0.08;
constexpr double of_codec = 0.05;
constexpr double band = 0.01;

// ln(speedup) = mean + 0.08 compute + 0.05 codec, both standard normal.
struct Sum {
  std::vector<Draw> draws = make_draws(1024, 5, 1);
  std::vector<double> speedups;

  Sum() {
    for (const Draw& draw : draws) {
      speedups.push_back(
          std::exp(mean + of_compute * draw.shared[latent::compute] + of_codec * draw.codecs[0]));
    }
  }

  [[nodiscard]] ExpectedOutcome of_compute_measured(double noise) const {
    PossibleMeasurement measurement{Kind::compute, 0, 0, {}, {{}}, {noise}};
    for (const Draw& draw : draws) {
      measurement.shown[0].push_back(draw.shared[latent::compute]);
    }
    return expected_outcome(measurement, speedups, band);
  }
};

// Of a normal belief: more than nine to one that it is above ln(1.01), or below.
double called_after(double sd_of_means, double sd_left) {
  const double edge = normal_quantile(0.9) * sd_left;
  const double threshold = std::log(1 + band) - mean;
  return normal_probability(-(threshold + edge) / sd_of_means) +
         normal_probability((threshold - edge) / sd_of_means);
}

double log_width(const Comparison& comparison) {
  return std::log(comparison.speedup_high / comparison.speedup_low);
}

}  // namespace

// A normal variable of variance 1, measured with noise of variance t^2, keeps t^2 / (1 + t^2).
TEST_CASE("what a measurement leaves of a sum is its noise and the other variable") {
  const Sum sum;
  const double all = of_compute * of_compute + of_codec * of_codec;
  for (const double noise : {0.3, 2.0}) {
    INFO("noise " << noise);
    const double left_of_one = noise * noise / (1 + noise * noise);
    const double left = of_compute * of_compute * left_of_one + of_codec * of_codec;
    const ExpectedOutcome found = sum.of_compute_measured(noise);
    CHECK_THAT(found.spread_ratio, WithinRel(std::sqrt(left / all), 0.05));
    CHECK_THAT(found.called, WithinAbs(called_after(std::sqrt(all - left), std::sqrt(left)), 0.05));
  }
}

TEST_CASE("what the speedup does not hang on teaches nothing of it") {
  const Sum sum;
  PossibleMeasurement measurement{Kind::messages, 0, 0, {}, {{}}, {0.2}};
  for (const Draw& draw : sum.draws) {
    measurement.shown[0].push_back(draw.shared[latent::network]);
  }
  CHECK_THAT(expected_outcome(measurement, sum.speedups, band).spread_ratio, WithinAbs(1.0, 0.04));
  CHECK_THAT(expected_outcome({}, sum.speedups, band).spread_ratio, WithinAbs(1.0, 0.01));
  CHECK(expected_outcome({}, std::vector<double>{1.1, 0.9}, band).spread_ratio == 1.0);
}

// The second implementation is what --observed does: the mode, and a normal belief around it.
TEST_CASE("what a step is expected to teach is what observed steps teach on average") {
  const Experiment job = with_plans(small_job(), {shrink(4, 8)});
  AssessOptions options;
  options.search_remedy = false;
  const Payoff before = assess(job, options);
  const NextMeasurements next = next_measurements(job, before, 1);
  const auto expected = std::find_if(next.measurements.begin(), next.measurements.end(),
                                     [&](const NextMeasurement& each) {
                                       return each.kind == Kind::step && each.dp == job.layout.dp;
                                     });
  REQUIRE(expected != next.measurements.end());

  Ensemble truth({{PreparedExperiment(job).plan(job.plans.front())}}, compute_sd(job));
  const std::vector<Draw> draws = make_draws(48, 3, 1);
  double squares = 0;
  for (const Draw& draw : draws) {
    options.observed = {Observation{.step = truth.step(0, draw)}};
    const double width = log_width(assess(job, options).plans[1].against_remedy);
    squares += width * width;
  }
  const double measured = std::sqrt(squares / static_cast<double>(draws.size())) /
                          log_width(before.plans[1].against_remedy);
  CHECK_THAT(expected->expected.spread_ratio, WithinRel(measured, 0.15));
  CHECK(expected->expected.spread_ratio < 0.95);
}

TEST_CASE("measurements are ranked by what they leave, and more is learned from more") {
  const Experiment job = with_plans(small_job({.nodes = 8}), {shrink(4, 8)});
  const NextMeasurements next = next_measurements(job, assess(job), 1);
  const auto left_by = [&](Kind kind, int nodes) {
    const auto found = std::find_if(
        next.measurements.begin(), next.measurements.end(),
        [&](const NextMeasurement& each) { return each.kind == kind && each.nodes == nodes; });
    REQUIRE(found != next.measurements.end());
    return found->expected.spread_ratio;
  };
  for (std::size_t i = 1; i < next.measurements.size(); ++i) {
    CHECK(next.measurements[i - 1].expected.spread_ratio <=
          next.measurements[i].expected.spread_ratio);
  }
  for (const int nodes : {1, 4, 8}) {
    INFO(nodes << " nodes");
    CHECK(left_by(Kind::profile, nodes) <= left_by(Kind::step, nodes) + 0.03);
  }
  CHECK(left_by(Kind::profile, 8) <= left_by(Kind::profile, 1));
}
