// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profiles/method_notes.hpp"
#include "study/break_even.hpp"
#include "study/payoff.hpp"

// Verdicts in words, for people and for the last line of a prediction.

namespace payoff {

[[nodiscard]] std::string verdict_word(Verdict verdict);

// "1.21 (1.16 to 1.27)": the interval holds 90 % of the draws.
[[nodiscard]] std::string speedup_text(const Comparison& comparison);
// "1.33 s (0.59 to 3.26)"
[[nodiscard]] std::string step_text(const PlanPayoff& plan);
[[nodiscard]] std::string step_text(Seconds step, Seconds low, Seconds high);

[[nodiscard]] std::string verdict_sentence(const Payoff& payoff,
                                           const std::vector<BreakEven>& break_evens);
// After a verdict that something pays: that it cannot be had as it was priced. Empty otherwise.
// `obstacles`: of every plan.
[[nodiscard]] std::string obstacle_clause(const Payoff& payoff,
                                          const std::vector<std::vector<Obstacle>>& obstacles);
// What the speedup of the best strategy hangs on most. Empty where nothing is known of it.
[[nodiscard]] std::string deciding_sentence(const Payoff& payoff);
// How a verdict ends: what convergence may still cost, given what is gained over the best remedy.
// Time to accuracy is iterations times step; within the band no iteration more or less is claimed.
[[nodiscard]] std::string slack_clause(const Comparison& against_remedy, double band);
[[nodiscard]] std::string remedy_sentence(const Payoff& payoff);

}  // namespace payoff
