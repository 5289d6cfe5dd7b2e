// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/survey_report.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string explained(SurveyFinding finding) {
  switch (finding) {
    case SurveyFinding::pays:
      return "over the job as given and over its best uncompressed remedy";
    case SurveyFinding::too_close:
      return "between 10 and 90 % of the draws pay";
    case SurveyFinding::remedy_is_enough:
      return "pays over the job as given; 16-bit reduction, other buckets or NCCL's other "
             "algorithm "
             "gain as much";
    case SurveyFinding::nothing_exposed:
      return "a step without any gradient message would not pay either";
    case SurveyFinding::codec:
      return "takes longer than the messages that it saves";
    case SurveyFinding::cannot_be_summed:
      return "gathered from all workers; it would pay if it were summed on the way";
    case SurveyFinding::latency:
      return "would not pay with messages of no bytes";
    case SurveyFinding::too_little_saved:
      return "its messages are still too large";
    case SurveyFinding::does_not_fit:
      return "the memory of a GPU";
  }
  return {};
}

std::string share_text(std::size_t part, std::size_t all) {
  return all == 0 ? "" : percent_text(static_cast<double>(part) / static_cast<double>(all));
}

std::string findings_table(const SurveyReport& report) {
  Table table({{"finding", Align::left},
               {"setups", Align::right},
               {"share", Align::right},
               {"what it means", Align::left}});
  for (const SurveyFinding finding : all_findings) {
    const std::size_t found = report.found(finding);
    if (found > 0 || finding == SurveyFinding::pays) {
      table.add({std::string(name(finding)), std::to_string(found),
                 share_text(found, report.possible()), explained(finding)});
    }
  }
  return table.markdown();
}

// A part of the setups: how many there are, and what was found of them.
struct Tally {
  std::size_t all{};
  std::size_t pay_over_job{};
  std::array<std::size_t, all_findings.size()> found{};

  void add(const SurveyedPlan& plan) {
    ++all;
    pay_over_job += plan.pays_over_job ? 1U : 0U;
    ++found.at(static_cast<std::size_t>(plan.finding));
  }
  [[nodiscard]] std::size_t with(SurveyFinding finding) const {
    return found.at(static_cast<std::size_t>(finding));
  }
};

// How many there are and pay, and what most of the others lack.
std::vector<std::string> row(std::string what, const Tally& tally) {
  const auto most = std::max_element(
      all_findings.begin() + 2, all_findings.end(),
      [&](SurveyFinding a, SurveyFinding b) { return tally.with(a) < tally.with(b); });
  const std::size_t others = tally.with(*most);
  return {std::move(what),
          std::to_string(tally.all),
          std::to_string(tally.with(SurveyFinding::pays)),
          std::to_string(tally.with(SurveyFinding::too_close)),
          std::to_string(tally.pay_over_job),
          others == 0 ? "" : fmt::format("{} ({})", name(*most), others)};
}

// By strategy, and by the value of every axis. One look at each setup: an axis may have a value for
// each.
struct Tallies {
  std::map<std::string_view, Tally> of_strategy;
  std::vector<std::vector<Tally>> of_value;

  explicit Tallies(const SurveyReport& report) {
    for (const SweepAxis& axis : report.question.design.axes()) {
      of_value.emplace_back(axis.values.size());
    }
    for (const Setup& setup : report.setups) {
      if (!setup.impossible.empty()) {
        continue;
      }
      of_strategy[setup.plan.label].add(setup.plan);
      for (std::size_t a = 0; a < of_value.size(); ++a) {
        of_value[a][setup.values[a]].add(setup.plan);
      }
    }
  }
};

std::string parts_table(const SurveyReport& report) {
  Table table({{"", Align::left},
               {"setups", Align::right},
               {"pay", Align::right},
               {"too close", Align::right},
               {"pay over the job as given", Align::right},
               {"most of the others", Align::left}});
  Tallies tallies(report);
  const std::vector<std::string>& strategies = report.question.strategies;
  for (std::size_t s = 1; s < strategies.size(); ++s) {
    table.add(row(strategies[s], tallies.of_strategy[strategies[s]]));
  }
  const std::vector<SweepAxis>& axes = report.question.design.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t v = 0; v < axes[a].values.size(); ++v) {
      table.add(row(axes[a].key + " " + axes[a].values[v], tallies.of_value[a][v]));
    }
  }
  return table.markdown();
}

std::string impossible_text(const SurveyReport& report) {
  std::vector<std::string> reasons;
  std::set<std::string_view> seen;
  for (const Setup& setup : report.setups) {
    if (!setup.impossible.empty() && seen.insert(setup.impossible).second) {
      reasons.push_back(setup.impossible);
    }
  }
  return reasons.empty()
             ? ""
             : fmt::format("{} setups cannot be: {}.\n\n", report.setups.size() - report.possible(),
                           fmt::join(reasons, "; "));
}

std::string beyond_text(const SurveyReport& report) {
  const std::size_t beyond =
      report.count([](const Setup& setup) { return setup.extrapolated.any(); });
  return beyond == 0 ? ""
                     : fmt::format(
                           "{} of {} setups are priced beyond what was measured "
                           "(`messages_extrapolated` and others in --csv).\n",
                           beyond, report.possible());
}

}  // namespace

std::size_t SurveyReport::count(const Which& which) const {
  return static_cast<std::size_t>(
      std::count_if(setups.begin(), setups.end(),
                    [&](const Setup& setup) { return setup.impossible.empty() && which(setup); }));
}

std::size_t SurveyReport::possible() const {
  return count([](const Setup&) { return true; });
}

std::size_t SurveyReport::found(SurveyFinding finding) const {
  return count([&](const Setup& setup) { return setup.plan.finding == finding; });
}

std::size_t SurveyReport::pay_over_job() const {
  return count([](const Setup& setup) { return setup.plan.pays_over_job; });
}

std::string survey_sentence(const SurveyReport& report) {
  return fmt::format(
      "{} of {} setups pay over the best uncompressed remedy, {} over the job as given; {} are too "
      "close to call.",
      report.found(SurveyFinding::pays), report.possible(), report.pay_over_job(),
      report.found(SurveyFinding::too_close));
}

std::string survey_text(const SurveyReport& report) {
  return findings_table(report) + "\n" + parts_table(report) + "\n" + impossible_text(report) +
         beyond_text(report) + survey_sentence(report) + "\n";
}

}  // namespace payoff
