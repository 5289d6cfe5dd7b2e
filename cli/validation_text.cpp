// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/residual_text.hpp"
#include "cli/table.hpp"
#include "cli/validation_report.hpp"
#include "model/units_text.hpp"
#include "study/residual.hpp"

namespace payoff {
namespace {

constexpr std::array halves{Half::judge, Half::fit, Half::none};
constexpr std::size_t widest_reason = 72;

std::string_view title(Half half) {
  switch (half) {
    case Half::judge:
      return "Judge half: no parameter was fitted to these";
    case Half::fit:
      return "Fit half: the laws were fitted to these, so they are no evidence";
    default:
      return "Not in the split: no parameter was fitted to these";
  }
}

std::string signed_percent(double ratio) { return fmt::format("{:+.1f} %", 100.0 * ratio); }

Table summary_table(std::string header) {
  return Table({{"kind", Align::left},
                {std::move(header), Align::left},
                {"cases", Align::right},
                {"predicted", Align::right},
                {"median", Align::right},
                {"95 %", Align::right},
                {"bias", Align::right},
                {"covered", Align::right}});
}

void add_summary(const ValidationSummary& summary, const std::string& group, Table& table) {
  std::vector<std::string> row{std::string(name(summary.kind)), group,
                               std::to_string(summary.cases), std::to_string(summary.errors.count)};
  if (summary.errors.count > 0) {
    for (const std::string& cell :
         {percent(summary.errors.median), percent(summary.errors.p95),
          signed_percent(summary.errors.bias), percent(summary.coverage)}) {
      row.push_back(cell);
    }
  }
  table.add(std::move(row));
}

std::string_view header_of(GroupBy by) {
  switch (by) {
    case GroupBy::nothing:
      return "";
    case GroupBy::source:
      return "source";
    case GroupBy::size:
      return "size";
    case GroupBy::scale:
      return "scale";
  }
  return "";
}

// All cases of a kind, then its groups.
std::string half_text(const ValidationReport& report, Half half) {
  Table table = summary_table(std::string(header_of(report.by)));
  const std::vector<ValidationSummary> groups = summarise(report.cases, report.by);
  for (const ValidationSummary& all : summarise(report.cases, GroupBy::nothing)) {
    if (all.half != half) {
      continue;
    }
    add_summary(all, "all", table);
    for (const ValidationSummary& group : groups) {
      if (group.half == half && group.kind == all.kind && report.by != GroupBy::nothing) {
        add_summary(group, group.group.text, table);
      }
    }
  }
  return table.empty() ? "" : fmt::format("\n{}\n\n{}", title(half), table.markdown());
}

std::string rivals_text(const ValidationReport& report) {
  Table table({{"kind", Align::left},
               {"half", Align::left},
               {"predictor", Align::left},
               {"cases", Align::right},
               {"median", Align::right},
               {"95 %", Align::right},
               {"bias", Align::right},
               {"ours", Align::right}});
  for (const ValidationSummary& summary : summarise(report.cases, GroupBy::nothing)) {
    for (const RivalSummary& rival : summary.rivals) {
      if (rival.errors.count > 0) {
        table.add({std::string(name(summary.kind)), to_text(summary.half), rival.name,
                   std::to_string(rival.errors.count), percent(rival.errors.median),
                   percent(rival.errors.p95), signed_percent(rival.errors.bias),
                   percent(rival.ours_median)});
      }
    }
  }
  return table.empty() ? ""
                       : "\nOthers on the same cases; `ours` is our median error on them\n\n" +
                             table.markdown();
}

std::vector<std::string> call_row(const ValidationSummary& summary, std::string predictor,
                                  const CallStatistics& calls) {
  const std::string of = summary.group.text.empty() ? "all" : summary.group.text;
  return {to_text(summary.half),
          of,
          std::move(predictor),
          std::to_string(calls.callable),
          percent(calls.abstention),
          calls.balanced_accuracy ? percent(*calls.balanced_accuracy) : "one class only"};
}

std::string calls_text(const ValidationReport& report) {
  Table table({{"half", Align::left},
               {"of", Align::left},
               {"verdict by", Align::left},
               {"outside noise", Align::right},
               {"abstains", Align::right},
               {"balanced accuracy", Align::right}});
  const std::vector<ValidationSummary> groups = summarise(report.cases, report.by);
  for (const ValidationSummary& summary : summarise(report.cases, GroupBy::nothing)) {
    if (summary.calls.callable == 0) {
      continue;
    }
    table.add(call_row(summary, "Payoff", summary.calls));
    for (const ValidationSummary& group : groups) {
      const bool part =
          group.kind == summary.kind && group.half == summary.half && report.by != GroupBy::nothing;
      if (part && group.calls.callable > 0) {
        table.add(call_row(group, "Payoff", group.calls));
      }
    }
    for (const RivalSummary& rival : summary.rivals) {
      if (rival.calls.callable > 0) {
        table.add(call_row(summary, rival.name, rival.calls));
      }
    }
  }
  return table.empty() ? ""
                       : "\nDoes compression pay? Runs whose speedup is outside 5 % of noise\n\n" +
                             table.markdown();
}

std::string reasons_text(const ValidationReport& report) {
  Table table(
      {{"kind", Align::left}, {"cases", Align::right}, {"no prediction because", Align::left}});
  for (const ReasonCount& count : count_reasons(report.cases)) {
    table.add({std::string(name(count.kind)), std::to_string(count.cases),
               shortened(count.reason, widest_reason)});
  }
  return table.empty()
             ? ""
             : "\nWhat is not predicted; a case may have several reasons\n\n" + table.markdown();
}

std::string worst_text(const ValidationReport& report, Half half) {
  Table table({{"case", Align::left},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {"suspect", Align::left}});
  for (int kind = 0; kind < case_kind_count; ++kind) {
    for (const ValidationCase* c :
         worst_cases(report.cases, static_cast<CaseKind>(kind), half, report.worst)) {
      const auto suspect = suspect_of(*c);
      table.add(
          {shortened(c->id, 38), value_text(*c, *c->measured), value_text(*c, *c->predicted),
           signed_percent(c->error()),
           suspect ? fmt::format("{} x {}", suspect->term, significant(suspect->factor, 2)) : ""});
    }
  }
  return table.empty()
             ? ""
             : fmt::format("\nThe worst{}; `--worst` says more of them\n\n{}",
                           half == Half::judge ? " of the judge half" : "", table.markdown());
}

std::string rejected_text(const ValidationReport& report) {
  const auto rejected =
      std::count_if(report.rejected.begin(), report.rejected.end(),
                    [](const Finding& f) { return f.effect == Effect::rejected; });
  return rejected == 0
             ? ""
             : fmt::format("\n{} left out: unreadable, or in contradiction to {}.\n",
                           rejected == 1 ? "An entry is" : fmt::format("{} entries are", rejected),
                           rejected == 1 ? "itself" : "themselves");
}

}  // namespace

std::string validation_text(const ValidationReport& report) {
  if (report.only_worst) {
    return residuals_text(report);
  }
  std::string text = fmt::format("Predicted against measured: {} cases\n", report.cases.size());
  for (const Half half : halves) {
    text += half_text(report, half);
  }
  text += rivals_text(report) + calls_text(report) + reasons_text(report) + rejected_text(report);
  for (const Half half : {Half::judge, Half::none}) {
    text += report.worst > 0 ? worst_text(report, half) : "";
  }
  return text;
}

}  // namespace payoff
