// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string too_large(const Memory& memory) {
  const std::array<std::pair<std::string_view, Bytes>, 7> items{
      {{"parameters", memory.parameters},
       {"gradients", memory.gradients},
       {"optimizer state", memory.optimizer},
       {"activations", memory.activations},
       {"buckets", memory.buckets},
       {"codec state", memory.codec_state},
       {"the margin", memory.margin()}}};
  const auto& largest = *std::max_element(
      items.begin(), items.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("needs {} on a GPU of {}, most of it {} ({})", to_text(memory.total()),
                     to_text(memory.capacity), largest.first, to_text(largest.second));
}

}  // namespace

std::string verdict_word(Verdict verdict) {
  return verdict == Verdict::too_close_to_call ? "too close" : std::string(name(verdict));
}

std::string speedup_text(const Comparison& comparison) {
  return with_interval(comparison.speedup, comparison.speedup_low, comparison.speedup_high);
}

std::string step_text(const PlanPayoff& plan) {
  return step_text(plan.prediction.step, plan.step_low, plan.step_high);
}

std::string step_text(Seconds step, Seconds low, Seconds high) {
  const auto [unit, name] = step >= 0.9995_s    ? std::pair{1_s, "s"}
                            : step >= 0.9995_ms ? std::pair{1_ms, "ms"}
                                                : std::pair{1_us, "us"};
  return with_interval(step / unit, low / unit, high / unit, name);
}

std::string remedy_sentence(const Payoff& payoff) {
  if (payoff.remedy.description.empty()) {
    return "No uncompressed remedy within the limits is faster than the job as given.";
  }
  return fmt::format("Best uncompressed remedy: {}, {} times as fast as the job as given{}.",
                     payoff.remedy.description, speedup_text(payoff.remedy_gain),
                     payoff.remedy.prediction.memory.fits() ? "" : "; it does not fit either");
}

std::string slack_clause(const Comparison& against_remedy, double band) {
  const double slack = against_remedy.convergence_slack_ratio();
  const double size = std::max(slack, -slack);
  if (size <= band) {
    return ".";
  }
  return slack > 0
             ? fmt::format("; convergence may take up to {} more iterations.", percent_text(size))
             : fmt::format("; convergence would have to take {} fewer iterations.",
                           percent_text(size));
}

std::string deciding_sentence(const Payoff& payoff) {
  constexpr std::size_t most = 5;
  constexpr double least_share = 0.005;  // rounds to 1 %
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr || best->decided_by.empty()) {
    return {};
  }
  std::string text;
  double named = 0;
  for (std::size_t i = 0; i < std::min(most, best->decided_by.size()); ++i) {
    const Influence& influence = best->decided_by[i];
    if (influence.variance_share < least_share) {
      break;
    }
    text +=
        fmt::format("{}{} {} % ({} to {})", text.empty() ? "" : ", ", name(influence.unknown),
                    fixed(100 * influence.variance_share, 0), significant(influence.speedup_low, 4),
                    significant(influence.speedup_high, 4));
    named += influence.variance_share;
  }
  if (text.empty()) {
    return {};
  }
  if (1 - named >= least_share) {
    text += fmt::format(", the rest {} %", fixed(100 * (1 - named), 0));
  }
  return fmt::format(
      "What decides this verdict: {}. Shares of the variance of the speedup of {} over the best "
      "remedy, and the speedup with that alone off as in 5 and 95 % of the draws.",
      text, best->label);
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

std::string verdict_of_best(const Payoff& payoff, const PlanPayoff& best,
                            const std::vector<BreakEven>& break_evens) {
  const std::string gain = gain_clause(best, payoff);
  const std::string slack = slack_clause(best.against_remedy, payoff.band);
  const auto entry =
      std::find_if(break_evens.begin(), break_evens.end(),
                   [&](const BreakEven& other) { return other.label == best.label; });
  const std::string where = entry == break_evens.end() ? "" : break_even_clause(*entry);
  switch (Payoff::verdict_of(best)) {
    case Verdict::pays:
      return gain + (where.empty() ? "" : "; it pays " + where) + slack;
    case Verdict::no_difference:
      return "No difference: the best, " + gain + slack;
    case Verdict::too_close_to_call:
      return "Too close to call: " + gain +
             fmt::format(" (probability {})", percent_text(best.against_remedy.probability)) +
             slack;
    case Verdict::does_not:
      return "No plan pays here: the best, " + gain +
             (where.empty() ? "" : "; it would pay " + where) + slack;
    case Verdict::does_not_fit:
      break;
  }
  return {};
}

}  // namespace

std::string obstacle_clause(const Payoff& payoff,
                            const std::vector<std::vector<Obstacle>>& obstacles) {
  const PlanPayoff* best = payoff.plans.size() < 2 ? nullptr : payoff.best_plan();
  if (best == nullptr || Payoff::verdict_of(*best) != Verdict::pays) {
    return {};
  }
  std::string reasons;
  for (const Obstacle& obstacle :
       obstacles.at(static_cast<std::size_t>(best - payoff.plans.data()))) {
    if (obstacle.rules_out()) {
      reasons +=
          fmt::format("{}{} ({})", reasons.empty() ? "" : "; ", obstacle.feature, obstacle.answer);
    }
  }
  return reasons.empty()
             ? std::string()
             : fmt::format(" But no known implementation composes with this job: {}.", reasons);
}

std::string verdict_sentence(const Payoff& payoff, const std::vector<BreakEven>& break_evens) {
  if (payoff.plans.size() < 2) {
    return nothing_compared(payoff);
  }
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr) {
    return fmt::format("The job does not fit, compressed or not: {} {}.", payoff.plans[1].label,
                       too_large(payoff.plans[1].prediction.memory));
  }
  const bool disagrees = payoff.observed && payoff.observed->disagrees();
  return (disagrees ? "By your measurement, which the profiles hardly allow: " : "") +
         verdict_of_best(payoff, *best, break_evens);
}

}  // namespace payoff
