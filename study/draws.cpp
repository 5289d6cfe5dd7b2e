// SPDX-License-Identifier: Apache-2.0
#include "study/draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace payoff {
namespace {

// In [0, 1): the upper 53 bits of a word.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// One value of each of `count` strata, in random order.
std::vector<double> stratified_normals(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random() % i]);
  }
  std::vector<double> values;
  values.reserve(count);
  for (const std::size_t stratum : order) {
    const double inside = std::max(uniform(random), 0x1p-53);
    values.push_back(
        normal_quantile((static_cast<double>(stratum) + inside) / static_cast<double>(count)));
  }
  return values;
}

Latents transform(const Belief& belief, const Latents& standard) {
  Latents result = belief.mean;
  for (std::size_t i = 0; i < all_latents; ++i) {
    for (std::size_t j = 0; j < all_latents; ++j) {
      result[i] += belief.factor[i][j] * standard[j];
    }
  }
  return result;
}

double polynomial(const std::array<double, 8>& coefficients, double x) {
  double value = 0.0;
  for (std::size_t i = coefficients.size(); i-- > 0;) {
    value = value * x + coefficients[i];
  }
  return value;
}

}  // namespace

std::vector<Draw> make_draws(std::size_t count, std::uint64_t seed, std::size_t codecs,
                             const Belief& belief) {
  std::mt19937_64 random(seed);
  std::vector<Latents> standard(count);
  const auto draw_latents = [&](std::size_t begin, std::size_t end) {
    for (std::size_t variable = begin; variable < end; ++variable) {
      const std::vector<double> values = stratified_normals(count, random);
      for (std::size_t i = 0; i < count; ++i) {
        standard[i][variable] = values[i];
      }
    }
  };
  draw_latents(0, latent_count);
  std::vector<Draw> draws(count);
  for (Draw& draw : draws) {
    draw.codecs.resize(codecs);
  }
  for (std::size_t codec = 0; codec < codecs; ++codec) {
    const std::vector<double> values = stratified_normals(count, random);
    for (std::size_t i = 0; i < count; ++i) {
      draws[i].codecs[codec] = values[i];
    }
  }
  const std::vector<double> pairs = stratified_normals(count, random);
  for (std::size_t i = 0; i < count; ++i) {
    draws[i].pairs = pairs[i];
  }
  if (belief.tells_inside) {
    draw_latents(latent_count, all_latents);
  }
  for (std::size_t i = 0; i < count; ++i) {
    draws[i].shared = transform(belief, standard[i]);
  }
  return draws;
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q *
           polynomial({3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                       1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                       3.3430575583588128105e+4, 2.5090809287301226727e+3},
                      r) /
           polynomial({1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
                       5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                       2.8729085735721942674e+4, 5.2264952788528545610e+3},
                      r);
  }
  const double tail = std::sqrt(-std::log(std::min(p, 1.0 - p)));
  double value = 0.0;
  if (tail <= 5.0) {
    const double r = tail - 1.6;
    value =
        polynomial({1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                    3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                    2.27238449892691845833e-2, 7.74545014278341407640e-4},
                   r) /
        polynomial({1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                    6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                    5.47593808499534494600e-4, 1.05075007164441684324e-9},
                   r);
  } else {
    const double r = tail - 5.0;
    value =
        polynomial({6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                    2.71155556874348757815e-5, 2.01033439929228813265e-7},
                   r) /
        polynomial({1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                    1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                    1.42151175831644588870e-7, 2.04426310338993978564e-15},
                   r);
  }
  return q < 0.0 ? -value : value;
}

Latents deviations(const Belief& belief) {
  Latents result{};
  for (std::size_t i = 0; i < all_latents; ++i) {
    double variance = 0;
    for (const double factor : belief.factor[i]) {
      variance += factor * factor;
    }
    result[i] = std::sqrt(variance);
  }
  return result;
}

Belief with_inside_apart(Belief belief) {
  for (std::size_t i = 0; i < inside_count; ++i) {
    const std::size_t inside = latent::first_inside + i;
    belief.mean[inside] += belief.mean[latent::network + i];
    for (std::size_t j = 0; j < all_latents; ++j) {
      belief.factor[inside][j] += belief.factor[latent::network + i][j];
    }
  }
  return belief;
}

double normal_probability(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double quantile(std::vector<double> sample, double p) {
  std::sort(sample.begin(), sample.end());
  const double at = p * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (at - static_cast<double>(below)) * (sample[above] - sample[below]);
}

}  // namespace payoff
