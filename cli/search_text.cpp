// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/layout_text.hpp"
#include "cli/prediction_report.hpp"
#include "cli/search_report.hpp"
#include "cli/table.hpp"
#include "cli/verdict_text.hpp"
#include "model/units_text.hpp"
#include "study/candidate_job.hpp"

namespace payoff {
namespace {

// "1,940,400": counts of a search have many digits.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) {
    digits.insert(end - 3, 1, ',');
  }
  return digits;
}

std::string strategy(const Finalist& finalist) {
  return finalist.candidate.plan == 0 ? "uncompressed" : finalist.label;
}

std::vector<std::string> row(std::string_view what, const Finalist& finalist, bool given) {
  const StepPrediction& prediction = finalist.prediction;
  const double gigabyte = 1e9;
  return {std::string(what),
          layout_words(finalist.layout),
          strategy(finalist),
          step_text(finalist.step(), finalist.step_low, finalist.step_high),
          to_text(prediction.step),
          fixed(prediction.memory.total() / 1_B / gigabyte, 1),
          given ? "1.00" : speedup_text(finalist.against_given)};
}

void add_rows(Table& table, std::string_view best, const std::vector<Finalist>& finalists) {
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    table.add(row(i == 0 ? best : finalists[i].tied ? "tied" : "next", finalists[i], false));
  }
}

std::string table_text(const SearchAnswer& answer) {
  Table table({{"candidate", Align::left},
               {"layout", Align::left},
               {"strategy", Align::left},
               {"step", Align::right},
               {"analytical", Align::right},
               {"GB", Align::right},
               {"speedup", Align::right}});
  table.add(row(answer.given.prediction.memory.fits() ? "as given" : "as given, does not fit",
                answer.given, true));
  add_rows(table, "best uncompressed", answer.uncompressed);
  add_rows(table, "best compressed", answer.compressed);
  return table.markdown();
}

std::string counts_text(const SearchReport& report) {
  const SearchCounts& counts = report.answer.found.counts;
  const std::size_t plans = report.read.experiment.plans.size() - 1;
  std::string text = fmt::format(
      "{} candidates: {} layouts, uncompressed and with {}. {} refused, {} without the "
      "memory, {} ruled out by their bound, {} priced.\n",
      grouped(counts.considered), grouped(counts.layouts), counted(plans, "plan"),
      grouped(counts.invalid), grouped(counts.no_memory), grouped(counts.pruned),
      grouped(counts.priced));
  if (!report.answer.found.is_complete) {
    text += "Interrupted: the best of what was priced until then.\n";
  }
  return text;
}

// Why a slower one is the answer, and what stands beside it.
std::string ties_text(std::string_view what, const std::vector<Finalist>& finalists, double band) {
  std::size_t tied = 0;
  bool is_fastest = true;
  for (const Finalist& finalist : finalists) {
    tied += finalist.tied ? 1U : 0U;
    is_fastest = is_fastest && finalists.front().step() <= finalist.step();
  }
  if (tied < 2) {
    return {};
  }
  return fmt::format(
      "{} of the {} {} candidates cannot be told apart: the fastest is not faster by more than {} "
      "with nine to one. {}\n",
      tied, finalists.size(), what, percent_text(band),
      is_fastest ? "The first of them is the simplest one too."
                 : "Of these the simplest layout is the answer, though another may be faster.");
}

std::string unsimulated_text(const SearchAnswer& answer) {
  for (const auto* finalists : {&answer.uncompressed, &answer.compressed}) {
    for (const Finalist& finalist : *finalists) {
      if (!finalist.simulated) {
        return fmt::format("Not simulated, so that the analytical step stands: {}, {} ({}).\n",
                           layout_words(finalist.layout), strategy(finalist), finalist.reason);
      }
    }
  }
  return {};
}

// Of the candidates that are the answer.
std::string beyond_text(const SearchReport& report) {
  std::string text;
  const auto add = [&](std::string_view what, const std::vector<Finalist>& finalists) {
    const std::string beyond =
        finalists.empty() ? std::string() : extrapolation_sentence(report.uses(finalists.front()));
    text += beyond.empty() ? beyond : fmt::format("Of the best {} one {}\n", what, beyond);
  };
  add("uncompressed", report.answer.uncompressed);
  add("compressed", report.answer.compressed);
  return text;
}

std::string at_best_text(const SearchAnswer& answer) {
  if (!answer.at_best_layout) {
    return answer.uncompressed.empty() || !answer.found.is_complete
               ? ""
               : "In the best uncompressed layout none of the plans can be used.\n";
  }
  const PlanPayoff& plan = answer.at_best_layout->plans.back();
  const std::string& remedy = answer.at_best_layout->remedy.description;
  return fmt::format(
      "In the best uncompressed layout the best plan is {}: {} times as fast as {}: {}.\n",
      plan.label, speedup_text(plan.against_remedy),
      remedy.empty() ? "the layout without it" : "the best remedy there (" + remedy + ")",
      verdict_word(Payoff::verdict_of(plan)));
}

// The probability is of the draws that the interval is of.
std::string against_given_text(const SearchReport& report) {
  const Comparison& against = report.answer.uncompressed.front().against_given;
  return fmt::format(
      "Uncompressed in the best layout the step is {} times as fast as given{}, faster by more "
      "than "
      "{} with a probability of {}: {}.",
      speedup_text(against),
      report.answer.given.prediction.memory.fits() ? "" : " (which does not fit the memory)",
      percent_text(report.options.band), percent_text(against.probability),
      verdict_word(against.verdict()));
}

std::string verdict_text(const SearchReport& report) {
  const SearchAnswer& answer = report.answer;
  if (answer.uncompressed.empty()) {
    return answer.found.is_complete ? "No layout fits the memory.\n"
                                    : "Nothing was priced until the interruption.\n";
  }
  const std::string text = against_given_text(report);
  if (!answer.gain) {
    return text + (answer.found.is_complete
                       ? " Nothing compressed fits.\n"
                       : " Nothing compressed was priced until the interruption.\n");
  }
  return text + fmt::format("\nThe best compressed candidate is {} times as fast as that: {}.\n",
                            speedup_text(*answer.gain),
                            answer.gain->verdict() == Verdict::pays
                                ? "compression pays beside the best layout"
                            : answer.gain->verdict() == Verdict::too_close_to_call
                                ? "too close to call"
                            : answer.gain->verdict() == Verdict::no_difference
                                ? "compression makes no difference beside the best layout"
                                : "compression does not pay, the layout does it");
}

}  // namespace

PricedUses SearchReport::uses(const Finalist& finalist) const {
  const PreparedExperiment prepared(in_layout(read.experiment, finalist.layout));
  return uses_of_plan(prepared, read.experiment.plans[finalist.candidate.plan]);
}

std::string search_text(const SearchReport& report) {
  const SearchAnswer& answer = report.answer;
  std::string text = experiment_headline(report.read.experiment) + "\n\n" + counts_text(report) +
                     "\n" + table_text(answer) + "\n";
  text += fmt::format(
      "Steps by the simulator, beside the analytical engine that searched; (low to high) holds 90 "
      "% of the draws, {} is noise.\n",
      percent_text(report.options.band));
  text += ties_text("uncompressed", answer.uncompressed, report.options.band);
  text += ties_text("compressed", answer.compressed, report.options.band);
  text += unsimulated_text(answer);
  text += beyond_text(report);
  const ParallelLayout& given = report.read.experiment.layout;
  if (!answer.uncompressed.empty()) {
    text += "\nThe best uncompressed layout as options: " +
            layout_options(answer.uncompressed.front().layout, given) + " --compress none\n";
  }
  if (!answer.compressed.empty()) {
    text += "The best compressed one: " + layout_options(answer.compressed.front().layout, given) +
            " --compress '" + answer.compressed.front().label + "'\n";
  }
  return text + "\n" + at_best_text(answer) + verdict_text(report);
}

}  // namespace payoff
