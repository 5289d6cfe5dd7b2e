// SPDX-License-Identifier: Apache-2.0
#include "study/draws.hpp"

#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("the normal quantile inverts the normal distribution") {
  // Phi(x) = erfc(-x / sqrt 2) / 2, on both sides of every branch of the algorithm.
  for (double x = -8.0; x <= 8.0; x += 0.0625) {
    const double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
    if (p < 1.0 - 1e-9) {
      CHECK_THAT(normal_quantile(p), WithinAbs(x, 1e-6 + 1e-13 * std::exp(x * x / 2)));
    }
  }
  CHECK(normal_quantile(0.5) == 0.0);
  CHECK(normal_probability(0.0) == 0.5);
  CHECK_THAT(normal_quantile(0.975), WithinRel(1.959963984540054, 1e-14));
}

TEST_CASE("a sample's quantiles interpolate between its sorted values") {
  const std::vector<double> sample{4, 1, 3, 2};
  CHECK(quantile(sample, 0.0) == 1);
  CHECK(quantile(sample, 1.0) == 4);
  CHECK(quantile(sample, 0.5) == 2.5);
  CHECK_THAT(quantile(sample, 0.25), WithinRel(1.75, 1e-15));
  CHECK(quantile({7.0}, 0.9) == 7.0);
}

TEST_CASE("every variable of the draws is standard normal: one value in each stratum") {
  constexpr std::size_t count = 200;
  const std::vector<Draw> draws = make_draws(count, 3, 2);
  for (std::size_t variable = 0; variable < latent_count + 3; ++variable) {
    std::vector<bool> seen(count);
    for (const Draw& draw : draws) {
      const std::size_t own = variable - latent_count;
      const double z = variable < latent_count ? draw.shared[variable]
                       : own < 2               ? draw.codecs[own]
                                               : draw.pairs;
      const double p = normal_probability(z);
      seen.at(static_cast<std::size_t>(p * count)) = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == count);
  }
}

TEST_CASE("the variables of the draws are not correlated") {
  const std::vector<Draw> draws = make_draws(1000, 5, 1);
  for (std::size_t a = 0; a < latent_count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double sum = 0;
      for (const Draw& draw : draws) {
        sum += draw.shared[a] * draw.shared[b] / 1000;
      }
      CHECK_THAT(sum, WithinAbs(0.0, 0.11));  // three and a half standard errors
    }
  }
}

TEST_CASE("a seed gives the same draws, another seed others") {
  CHECK(make_draws(16, 1, 1)[7].shared == make_draws(16, 1, 1)[7].shared);
  CHECK(make_draws(16, 1, 1)[7].shared != make_draws(16, 2, 1)[7].shared);
}

TEST_CASE("a belief moves and stretches the draws") {
  Belief belief;
  belief.mean[latent::compute] = 2.0;
  belief.factor[latent::compute][latent::compute] = 0.5;
  belief.factor[latent::network][latent::compute] = -0.6;  // and 1.0 of its own
  const std::vector<Draw> draws = make_draws(4000, 9, 0, belief);
  double mean = 0;
  double variance = 0;
  double covariance = 0;
  for (const Draw& draw : draws) {
    const double c = draw.shared[latent::compute];
    mean += c / 4000;
    variance += (c - 2) * (c - 2) / 4000;
    covariance += (c - 2) * draw.shared[latent::network] / 4000;
  }
  CHECK_THAT(mean, WithinAbs(2.0, 0.001));
  CHECK_THAT(variance, WithinRel(0.25, 0.01));
  CHECK_THAT(covariance, WithinAbs(0.5 * -0.6, 0.03));
}
