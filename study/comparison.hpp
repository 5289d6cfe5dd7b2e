// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "model/units.hpp"

// One time against another, with what is not known of both: the same draws behind each, so that
// what they have in common cancels in their ratio.

namespace payoff {

// Gains and losses within this are no difference, unless the user names another band.
inline constexpr double noise_band = 0.01;

enum class Verdict { pays, no_difference, does_not, too_close_to_call, does_not_fit };
[[nodiscard]] std::string_view name(Verdict verdict);

// Faster than what, and how sure. Speedups are ratios of times per sample.
struct Comparison {
  double speedup{1};           // with the most likely parameters
  double speedup_low{1};       // 5 % of the draws are below
  double speedup_high{1};      // 5 % of the draws are above
  double probability{};        // that it is faster by more than the band
  double probability_equal{};  // that the difference is within the band

  // Of the times alone; verdict_of() knows more.
  [[nodiscard]] Verdict verdict() const;
  // More iterations, as a share, that convergence may take before time to accuracy gets worse.
  [[nodiscard]] double convergence_slack_ratio() const { return speedup - 1.0; }
};

// By the most likely parameters, and in every draw.
struct Timing {
  Seconds central{};
  std::vector<Seconds> drawn;

  // Quantile of the draws; the central time where there are none.
  [[nodiscard]] Seconds quantile(double p) const;
};

// Both of the same draws; `band` is what counts as no difference.
[[nodiscard]] Comparison compare(const Timing& plan, const Timing& rival, double band);

}  // namespace payoff
