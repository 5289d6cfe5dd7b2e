// SPDX-License-Identifier: Apache-2.0
#include "model/host_jitter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr HostJitter exponential{JitterLaw::exponential, 1_ms};
constexpr HostJitter half_normal{JitterLaw::half_normal, 1_ms};

double mean_of(const HostJitter& jitter, int ranks) {
  return expected_maximum(jitter, ranks) / jitter.mean;
}

// The share of ranks whose delay is below.
double below(const HostJitter& jitter, Seconds delay) {
  const double means = delay / jitter.mean;
  return jitter.law == JitterLaw::exponential ? 1.0 - std::exp(-means)
                                              : std::erf(means / std::sqrt(std::numbers::pi));
}

// One delay of a rank by the definition of its law, from uniform numbers.
double draw(const HostJitter& jitter, std::mt19937_64& bits) {
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11U) + 0.5) * 0x1p-53; };
  const double radius = uniform();
  if (jitter.law == JitterLaw::exponential) {
    return -std::log(radius);
  }
  const double angle = uniform();  // Box and Muller
  return std::sqrt(std::numbers::pi / 2.0) * std::sqrt(-2.0 * std::log(radius)) *
         std::abs(std::cos(2.0 * std::numbers::pi * angle));
}

}  // namespace

TEST_CASE("hosts without jitter add nothing, whatever their number") {
  CHECK(expected_maximum({}, 4096) == 0_s);
}

TEST_CASE("one rank is late by the mean of its delay") {
  CHECK_THAT(mean_of(exponential, 1), WithinRel(1.0, 1e-12));
  CHECK_THAT(mean_of(half_normal, 1), WithinRel(1.0, 1e-9));
}

// The first of n exponential delays ends after mean / n; the others go on as if they began then.
TEST_CASE("the latest of exponential delays is the harmonic number of their means") {
  CHECK_THAT(mean_of(exponential, 2), WithinRel(1.0 + 1.0 / 2, 1e-12));
  CHECK_THAT(mean_of(exponential, 4), WithinRel(1.0 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4, 1e-12));
  double sum = 0.0;
  for (int n = 1; n <= 5000; ++n) {
    sum += 1.0 / n;
    if (n == 64 || n == 65 || n == 1000 || n == 5000) {
      CHECK_THAT(mean_of(exponential, n), WithinRel(sum, 1e-12));
    }
  }
}

// max(|a|, |b|) = (|a + b| + |a - b|) / 2, and both are normal of deviation sqrt 2.
TEST_CASE("the latest of two half-normal delays is late by the root of two means") {
  CHECK_THAT(mean_of(half_normal, 2), WithinRel(std::numbers::sqrt2, 1e-9));
}

// Of many the maximum of |z| stands near sqrt(2 ln 2N), from below, with corrections of ln ln N.
TEST_CASE("half-normal delays of a million ranks stay within their bound") {
  const double deviations = mean_of(half_normal, 1 << 20) * std::sqrt(2.0 / std::numbers::pi);
  const double bound = std::sqrt(2.0 * std::log(2.0 * (1 << 20)));
  CHECK(deviations < bound);
  CHECK(deviations > 0.9 * bound);
}

TEST_CASE("the expected latest rank is the mean over simulated steps") {
  constexpr int ranks = 12;
  constexpr int steps = 20000;
  for (const HostJitter& jitter : {exponential, half_normal}) {
    std::mt19937_64 bits(7);
    double sum = 0.0;
    for (int step = 0; step < steps; ++step) {
      double latest = 0.0;
      for (int rank = 0; rank < ranks; ++rank) {
        latest = std::max(latest, draw(jitter, bits));
      }
      sum += latest;
    }
    // The maximum's deviation is about a mean: 1 / sqrt(20,000) of it, thrice.
    CHECK_THAT(sum / steps, WithinRel(mean_of(jitter, ranks), 0.02));
  }
}

TEST_CASE("more ranks wait longer") {
  for (const HostJitter& jitter : {exponential, half_normal}) {
    double before = 0.0;
    for (int ranks = 1; ranks <= 1 << 20; ranks *= 2) {
      const double mean = mean_of(jitter, ranks);
      CHECK(mean > before);
      before = mean;
    }
  }
}

TEST_CASE("all ranks together stay below a quantile in that share of the steps") {
  for (const HostJitter& jitter : {exponential, half_normal}) {
    for (const int ranks : {1, 8, 1024, 1 << 20}) {
      for (const double share : {0.05, 0.5, 0.95}) {
        const Seconds quantile = maximum_quantile(jitter, ranks, share);
        CHECK_THAT(std::pow(below(jitter, quantile), ranks), WithinRel(share, 1e-6));
      }
    }
  }
}
