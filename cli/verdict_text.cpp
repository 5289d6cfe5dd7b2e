// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pays:
      return "pays";
    case Verdict::does_not:
      return "does not";
    case Verdict::too_close_to_call:
      return "too close";
  }
  return {};
}

std::string speedup_text(const Comparison& comparison) {
  const double spread = (comparison.speedup_high - comparison.speedup_low) / 2.0;
  const int digits = spread < 0.005 ? 3 : 2;  // a gain of 0.4 % is one
  return fmt::format("{:.{}f} ± {:.{}f}", comparison.speedup, digits, spread, digits);
}

const PlanPayoff* best_plan(const Payoff& payoff) {
  if (payoff.plans.size() < 2) {
    return nullptr;
  }
  return &*std::max_element(payoff.plans.begin() + 1, payoff.plans.end(),
                            [](const PlanPayoff& a, const PlanPayoff& b) {
                              return a.against_remedy.speedup < b.against_remedy.speedup;
                            });
}

Verdict overall_verdict(const Payoff& payoff) {
  const PlanPayoff* best = best_plan(payoff);
  return best == nullptr ? Verdict::does_not : best->against_remedy.verdict();
}

std::string remedy_sentence(const Payoff& payoff) {
  if (payoff.remedy.description.empty()) {
    return "No uncompressed remedy within the limits is faster than the job as given.";
  }
  return fmt::format("Best uncompressed remedy: {}, {} times faster than the job as given.",
                     payoff.remedy.description, speedup_text(payoff.remedy_gain));
}

std::string observed_sentence(const Payoff& payoff) {
  if (!payoff.observed) {
    return {};
  }
  const Conditioning& seen = *payoff.observed;
  std::string text = fmt::format(
      "Observed: the step was predicted as {} and is {} after your measurement; its interval "
      "shrank from ± {} to ± {}.",
      to_text(seen.step_before), to_text(seen.step_after), percent_text(seen.width_before / 2.0),
      percent_text(seen.width_after / 2.0));
  if (seen.contradicts()) {
    text += fmt::format(
        " The measurement lies {} standard deviations outside what the profiles allow: check "
        "cluster, software and batch.",
        significant(seen.sigmas, 2));
  }
  return text;
}

std::string verdict_sentence(const Payoff& payoff, const std::vector<BreakEven>& break_evens) {
  const PlanPayoff* best = best_plan(payoff);
  if (best == nullptr) {
    return fmt::format("Nothing was compared: a step takes {}. Name strategies with --compress.",
                       to_text(payoff.plans.front().prediction.step));
  }
  std::string gain = fmt::format("{} is {} times faster than uncompressed", best->label,
                                 speedup_text(best->against_uncompressed));
  if (!payoff.remedy.description.empty()) {
    gain += fmt::format(" and {} times faster than the best remedy ({})",
                        speedup_text(best->against_remedy), payoff.remedy.description);
  }
  const auto entry =
      std::find_if(break_evens.begin(), break_evens.end(),
                   [&](const BreakEven& other) { return other.label == best->label; });
  const std::string where = entry == break_evens.end() ? "" : break_even_clause(*entry);
  switch (best->against_remedy.verdict()) {
    case Verdict::pays:
      return gain + (where.empty() ? "." : "; it pays " + where + ".");
    case Verdict::too_close_to_call:
      return "Too close to call: " + gain +
             fmt::format(" (probability {}).", percent_text(best->against_remedy.probability));
    case Verdict::does_not:
      return "No plan pays here: the best, " + gain +
             (where.empty() ? "." : "; it would pay " + where + ".");
  }
  return {};
}

}  // namespace payoff
