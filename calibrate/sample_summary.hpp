// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/units.hpp"

// What repeated times of one kernel are worth. A sample further from the median than five robust
// standard deviations (1.4826 median absolute deviations: Rousseeuw and Croux, JASA 88, 1993) is an
// outlier and left out, of five samples and more. A set is refused as a whole where its median
// means nothing: no sample, more than a fifth of them outliers, half of them discarded, or the
// clock held down.

namespace payoff {

// Between copies of one run; beyond the second nothing of it can be compared.
inline constexpr double noticeable_drift = 0.05;
inline constexpr double most_drift = 0.15;

struct SampleSummary {
  Seconds lowest{}, first_quartile{}, median{}, third_quartile{};  // of what is kept
  double noise{};        // relative standard deviation of one sample
  double relative_sd{};  // of the median
  std::size_t kept{};
  std::size_t outliers{};
  std::string refused;  // why; empty: it may be fitted
};

[[nodiscard]] SampleSummary summarize_samples(std::span<const Seconds> samples,
                                              std::size_t discarded, double clock_ratio);

// How much faster the fastest of some copies was than the slowest: fastest / slowest - 1.
[[nodiscard]] double drift_of(std::span<const Bandwidth> copies);

}  // namespace payoff
