// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "study/break_even.hpp"
#include "study/payoff.hpp"

// Verdicts in words, for people and for the last line of a prediction.

namespace payoff {

[[nodiscard]] std::string verdict_word(Verdict verdict);

// "1.21 ± 0.05": half the interval that holds 90 % of the draws.
[[nodiscard]] std::string speedup_text(const Comparison& comparison);

// The plan that gains most over the best uncompressed remedy; null where no plan compresses.
[[nodiscard]] const PlanPayoff* best_plan(const Payoff& payoff);

// Whether any plan beats everything that needs no compression.
[[nodiscard]] Verdict overall_verdict(const Payoff& payoff);

[[nodiscard]] std::string verdict_sentence(const Payoff& payoff,
                                           const std::vector<BreakEven>& break_evens);
[[nodiscard]] std::string remedy_sentence(const Payoff& payoff);
[[nodiscard]] std::string observed_sentence(const Payoff& payoff);

}  // namespace payoff
