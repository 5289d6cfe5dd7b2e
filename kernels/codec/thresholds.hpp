// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/low_rank.hpp"

// Thresholds that are looked for and not selected: both methods only count how many magnitudes
// reach a threshold, and try another.
//
// MSTopK (Shi et al., "Towards Scalable Distributed Training of Deep Learning on Public Cloud
// Clusters", MLSys 2021, algorithm 1) halves the way from the mean magnitude to the largest. It
// keeps all that reach the lowest threshold with at most k, and fills up to k from what lies
// between that and the highest threshold with more than k.
//
// Gaussian-K (Shi et al., "Understanding Top-k Sparsification in Distributed Deep Learning", arXiv
// 1911.08772, and hclhkbu/GaussianK-SGD) takes a normal distribution's quantile, and halves it or
// adds half to it while fewer than 2/3 k or more than 4/3 k magnitudes reach it.

namespace payoff::kernels {

struct Bisection {
  float mean{};     // of the magnitudes
  float largest{};  // of them
  float low{};      // of the way from one to the other: more than k lie above
  float high{1.0F};
  float few{};           // at most k reach it; beyond all where no such threshold was met
  float many{};          // more than k reach it; zero where none was met
  std::uint32_t kept{};  // magnitudes that reach `few`
};

[[nodiscard]] PAYOFF_HD inline Bisection begun_bisection(float mean, float largest) {
  return {mean, largest, 0.0F, 1.0F, float_of(infinity_bits), 0.0F, 0U};
}

[[nodiscard]] PAYOFF_HD inline float middle_share(const Bisection& bisection) {
  return bisection.low + (bisection.high - bisection.low) * 0.5F;
}

// The one to try next.
[[nodiscard]] PAYOFF_HD inline float middle_of(const Bisection& bisection) {
  return bisection.mean + middle_share(bisection) * (bisection.largest - bisection.mean);
}

// When `count` magnitudes reach the middle.
[[nodiscard]] PAYOFF_HD inline Bisection halved(Bisection bisection, std::uint32_t count,
                                                std::uint32_t k) {
  const float tried = middle_of(bisection);
  const float share = middle_share(bisection);
  if (count <= k) {
    bisection.high = share;
    bisection.few = tried;
    bisection.kept = count;
  } else {
    bisection.low = share;
    bisection.many = tried;
  }
  return bisection;
}

// 1: kept whatever else is; 0: fills up; -1: left out.
[[nodiscard]] PAYOFF_HD inline int bisected_side(float value, const Bisection& bisection) {
  const std::uint32_t key = magnitude_key(value);
  return key >= magnitude_key(bisection.few) ? 1 : (key >= magnitude_key(bisection.many) ? 0 : -1);
}

// Mean and `deviations` standard deviations beyond it; zero where that is negative.
[[nodiscard]] PAYOFF_HD inline float normal_threshold(float sum, float squares, float count,
                                                      float deviations) {
  const float mean = sum / count;
  const float variance = larger(squares / count - mean * mean, 0.0F);
  return larger(mean + deviations * root(variance), 0.0F);
}

[[nodiscard]] PAYOFF_HD inline float corrected_threshold(float threshold, std::uint32_t count,
                                                         std::uint32_t k) {
  const auto found = static_cast<std::uint64_t>(count);
  const auto wanted = static_cast<std::uint64_t>(k);
  if (3 * found < 2 * wanted) {
    return threshold * 0.5F;
  }
  return 3 * found > 4 * wanted ? threshold * 1.5F : threshold;
}

}  // namespace payoff::kernels
