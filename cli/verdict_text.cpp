// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string too_large(const Memory& memory) {
  return fmt::format("needs {} on a GPU of {}", to_text(memory.total()), to_text(memory.capacity));
}

}  // namespace

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pays:
      return "pays";
    case Verdict::no_difference:
      return "no difference";
    case Verdict::does_not:
      return "does not";
    case Verdict::too_close_to_call:
      return "too close";
    case Verdict::does_not_fit:
      return "does not fit";
  }
  return {};
}

std::string speedup_text(const Comparison& comparison) {
  return with_interval(comparison.speedup, comparison.speedup_low, comparison.speedup_high);
}

std::string step_text(const PlanPayoff& plan) {
  const Seconds step = plan.prediction.step;
  const auto [unit, name] = step >= 0.9995_s    ? std::pair{1_s, "s"}
                            : step >= 0.9995_ms ? std::pair{1_ms, "ms"}
                                                : std::pair{1_us, "us"};
  return with_interval(step / unit, plan.step_low / unit, plan.step_high / unit, name);
}

std::string remedy_sentence(const Payoff& payoff) {
  if (payoff.remedy.description.empty()) {
    return "No uncompressed remedy within the limits is faster than the job as given.";
  }
  return fmt::format("Best uncompressed remedy: {}, {} times as fast as the job as given{}.",
                     payoff.remedy.description, speedup_text(payoff.remedy_gain),
                     payoff.remedy.prediction.memory.fits() ? "" : "; it does not fit either");
}

std::string observed_sentence(const Payoff& payoff) {
  if (!payoff.observed) {
    return {};
  }
  const Conditioning& seen = *payoff.observed;
  std::string text = fmt::format(
      "Observed: the step was predicted as {} and is {} after your measurement; its interval "
      "is {} wide instead of {}.",
      to_text(seen.step_before), to_text(seen.step_after), percent_text(seen.width_after),
      percent_text(seen.width_before));
  if (seen.contradicts()) {
    text += fmt::format(
        " The measurement lies {} standard deviations outside what the profiles allow: check "
        "cluster, software and batch.",
        significant(seen.sigmas, 2));
  }
  return text;
}

namespace {

std::string nothing_compared(const Payoff& payoff) {
  const StepPrediction& job = payoff.plans.front().prediction;
  const std::string memory = job.memory.fits() ? "" : fmt::format(" and {}", too_large(job.memory));
  return fmt::format("Nothing was compared: a step takes {}{}. Name strategies with --compress.",
                     to_text(job.step), memory);
}

std::string gain_clause(const PlanPayoff& best, const Payoff& payoff) {
  std::string gain = fmt::format("{} is {} times as fast as uncompressed", best.label,
                                 speedup_text(best.against_uncompressed));
  if (!payoff.remedy.description.empty()) {
    gain += fmt::format(" and {} times as fast as the best remedy ({})",
                        speedup_text(best.against_remedy), payoff.remedy.description);
  }
  return gain;
}

}  // namespace

std::string verdict_sentence(const Payoff& payoff, const std::vector<BreakEven>& break_evens) {
  if (payoff.plans.size() < 2) {
    return nothing_compared(payoff);
  }
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr) {
    return fmt::format("The job does not fit, compressed or not: {} {}.", payoff.plans[1].label,
                       too_large(payoff.plans[1].prediction.memory));
  }
  const std::string gain = gain_clause(*best, payoff);
  const auto entry =
      std::find_if(break_evens.begin(), break_evens.end(),
                   [&](const BreakEven& other) { return other.label == best->label; });
  const std::string where = entry == break_evens.end() ? "" : break_even_clause(*entry);
  switch (payoff.verdict_of(*best)) {
    case Verdict::pays:
      return gain + (where.empty() ? "." : "; it pays " + where + ".");
    case Verdict::no_difference:
      return "No difference: the best, " + gain + ".";
    case Verdict::too_close_to_call:
      if (payoff.observed && payoff.observed->contradicts()) {
        return "Too close to call: your measurement contradicts the profiles. If it is right, " +
               gain + ".";
      }
      return "Too close to call: " + gain +
             fmt::format(" (probability {}).", percent_text(best->against_remedy.probability));
    case Verdict::does_not:
      return "No plan pays here: the best, " + gain +
             (where.empty() ? "." : "; it would pay " + where + ".");
    case Verdict::does_not_fit:
      break;
  }
  return {};
}

}  // namespace payoff
