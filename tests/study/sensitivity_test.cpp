// SPDX-License-Identifier: Apache-2.0
#include "study/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "study/payoff.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double normal_95 = 1.6448536;

// ln(speedup) = 0.3 compute + 0.1 codec: variances of 0.09 and 0.01.
double speedup_of(const Draw& draw) {
  return std::exp(0.3 * draw.shared[latent::compute] + 0.1 * draw.codecs.at(1));
}

std::vector<Influence> of_the_sum(const Belief& belief) {
  const std::vector<Draw> draws = make_draws(1000, 7, 2, belief);
  std::vector<double> speedups;
  for (const Draw& draw : draws) {
    speedups.push_back(speedup_of(draw));
  }
  return influences(draws, speedups, std::array<std::size_t, 1>{1}, belief, speedup_of);
}

}  // namespace

TEST_CASE("shares of a sum of two variables are those of their variances") {
  const std::vector<Influence> found = of_the_sum({});
  REQUIRE(found.size() == 2);
  CHECK(found[0].unknown == Unknown::compute);
  CHECK_THAT(found[0].variance_share, WithinAbs(0.9, 0.02));
  CHECK(found[1].unknown == Unknown::codec);
  CHECK_THAT(found[1].variance_share, WithinAbs(0.1, 0.02));
  CHECK_THAT(found[0].speedup_low, WithinRel(std::exp(-0.3 * normal_95), 1e-6));
  CHECK_THAT(found[0].speedup_high, WithinRel(std::exp(0.3 * normal_95), 1e-6));
}

TEST_CASE("what a measurement has settled decides less") {
  Belief belief;
  belief.factor[latent::compute][latent::compute] = 1.0 / 3;  // as wide as the codec's
  const std::vector<Influence> found = of_the_sum(belief);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0].variance_share, WithinAbs(0.5, 0.05));
  CHECK_THAT(found[1].variance_share, WithinAbs(0.5, 0.05));
}

TEST_CASE("several codecs of one strategy are one unknown") {
  const std::vector<Draw> draws = make_draws(1000, 7, 3);
  // Variances of 0.04 and, of both codecs, 0.03 + 0.03.
  const auto speedup = [](const Draw& draw) {
    return std::exp(0.2 * draw.shared[latent::compute] +
                    std::sqrt(0.03) * (draw.codecs.at(1) + draw.codecs.at(2)));
  };
  std::vector<double> speedups;
  for (const Draw& draw : draws) {
    speedups.push_back(speedup(draw));
  }
  const std::vector<Influence> found =
      influences(draws, speedups, std::array<std::size_t, 2>{1, 2}, {}, speedup);
  REQUIRE(found.size() == 2);
  CHECK(found[0].unknown == Unknown::codec);
  CHECK_THAT(found[0].variance_share, WithinAbs(0.6, 0.05));
  CHECK_THAT(found[0].speedup_high, WithinRel(std::exp(2 * std::sqrt(0.03) * normal_95), 1e-6));
}

TEST_CASE("an effect without a direction has its share too") {
  const std::vector<Draw> draws = make_draws(1000, 3, 1);
  const auto bowl = [](const Draw& draw) {
    return std::exp(0.2 * draw.pairs * draw.pairs + 0.2 * draw.shared[latent::network]);
  };
  std::vector<double> speedups;
  for (const Draw& draw : draws) {
    speedups.push_back(bowl(draw));
  }
  const std::vector<Influence> found = influences(draws, speedups, {}, {}, bowl);
  // The variance of the square of a standard normal is 2, that of itself 1.
  const auto of = [&](Unknown unknown) {
    const auto place =
        std::ranges::find_if(found, [&](const Influence& i) { return i.unknown == unknown; });
    REQUIRE(place != found.end());
    return place->variance_share;
  };
  CHECK_THAT(of(Unknown::network), WithinAbs(1.0 / 3, 0.05));
  CHECK_THAT(of(Unknown::interference), WithinAbs(2.0 / 3, 0.1));
}

TEST_CASE("the shares of a verdict leave little, and the job as given has none") {
  AssessOptions options;
  options.sensitivity = true;
  options.draws = 512;
  const Experiment job = test::with_plans(test::small_job({.nodes = 8}), {test::shrink(8, 2)});
  const Payoff payoff = assess(job, options);
  CHECK(payoff.plans.front().decided_by.empty());
  for (std::size_t i = 1; i < payoff.plans.size(); ++i) {
    const std::vector<Influence>& found = payoff.plans[i].decided_by;
    REQUIRE_FALSE(found.empty());
    double sum = 0;
    for (const Influence& each : found) {
      sum += each.variance_share;
      CHECK(each.speedup_low < each.speedup_high);
    }
    CHECK(sum > 0.7);
    CHECK(sum < 1.0 + 1e-9);
  }
  CHECK(assess(job).plans.back().decided_by.empty());
}
