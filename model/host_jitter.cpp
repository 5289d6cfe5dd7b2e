// SPDX-License-Identifier: Apache-2.0
#include "model/host_jitter.hpp"

#include <cmath>
#include <numbers>

namespace payoff {
namespace {

// Delays beyond it, in standard deviations: 1e-22 of them.
constexpr double most_deviations = 10.0;

double harmonic(int n) {
  constexpr int summed = 64;
  if (n <= summed) {
    double sum = 0.0;
    for (int i = n; i > 0; --i) {  // small ones first
      sum += 1.0 / i;
    }
    return sum;
  }
  // Euler and Maclaurin; the next term is below 1e-13 here.
  const double x = n;
  return std::log(x) + std::numbers::egamma + 1.0 / (2.0 * x) - 1.0 / (12.0 * x * x) +
         1.0 / (120.0 * x * x * x * x);
}

// P(at least one of n half-normal numbers > z).
double tail_of_maximum(double z, int n) {
  const double one = std::erfc(z / std::numbers::sqrt2);
  return one >= 1.0 ? 1.0 : -std::expm1(n * std::log1p(-one));
}

// Mean of the largest of n half-normal numbers of standard deviation 1 before folding: the
// integral of the tail, by Simpson's rule.
double half_normal_maximum(int n) {
  constexpr int intervals = 1000;
  constexpr double h = most_deviations / intervals;
  double sum = tail_of_maximum(0.0, n) + tail_of_maximum(most_deviations, n);
  for (int i = 1; i < intervals; ++i) {
    sum += (i % 2 == 1 ? 4.0 : 2.0) * tail_of_maximum(i * h, n);
  }
  return sum * h / 3.0;
}

// Of the normal numbers whose absolute values have this mean.
Seconds deviation(Seconds mean) { return mean * std::sqrt(std::numbers::pi / 2.0); }

}  // namespace

Seconds expected_maximum(const HostJitter& jitter, int ranks) {
  if (jitter.mean <= 0_s) {
    return {};
  }
  return jitter.law == JitterLaw::exponential ? jitter.mean * harmonic(ranks)
                                              : deviation(jitter.mean) * half_normal_maximum(ranks);
}

Seconds maximum_quantile(const HostJitter& jitter, int ranks, double share) {
  if (jitter.law == JitterLaw::exponential) {
    return jitter.mean * -std::log(-std::expm1(std::log(share) / ranks));
  }
  double low = 0.0;
  double high = most_deviations;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2.0;
    (tail_of_maximum(middle, ranks) > 1.0 - share ? low : high) = middle;
  }
  return deviation(jitter.mean) * low;
}

}  // namespace payoff
