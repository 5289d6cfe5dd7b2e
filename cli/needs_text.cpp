// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/needs_report.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

using Kind = PossibleMeasurement::Kind;

std::string text_of(const NextMeasurement& measurement, const NeedsReport& report) {
  const auto& cluster = report.read.experiment.cluster;
  switch (measurement.kind) {
    case Kind::step:
      return fmt::format("a step, {}: --observed step=TIME@nodes={}",
                         counted(measurement.nodes, "node"), measurement.nodes);
    case Kind::profile:
      return fmt::format("a step, its exposed part, {}: --observed step=TIME,exposed=TIME@nodes={}",
                         counted(measurement.nodes, "node"), measurement.nodes);
    case Kind::compute:
      return fmt::format("payoff-kernels on {}, all that computes", cluster.gpu.name);
    case Kind::messages:
      return fmt::format("nccl-tests: {}: --observed FILE", name(measurement.unknown));
    case Kind::codec:
      return fmt::format("the codec of {} alone", report.plan.label);
    case Kind::beside:
      return "the codec beside backward and beside a collective";
  }
  return "";
}

std::string whole_percent(double ratio) { return fixed(std::round(100 * ratio) + 0.0, 0) + " %"; }

std::string next_text(const NeedsReport& report) {
  Table table({{"measurement", Align::left},
               {"spread left", Align::right},
               {"verdict called", Align::right}});
  table.add({"none", whole_percent(1.0), whole_percent(report.next.now.called)});
  for (const NextMeasurement& each : report.next.measurements) {
    table.add({text_of(each, report), whole_percent(each.expected.spread_ratio),
               whole_percent(each.expected.called)});
  }
  return "\nWhat to measure next: what is expected to be left of the spread of the speedup, and "
         "how often "
         "the\nverdict could then be called. Steps are of the uncompressed job; groups and sizes "
         "of "
         "nccl-tests stand\nbelow.\n\n" +
         table.markdown();
}

std::string fact_text(const Fact& fact) {
  const std::string spread =
      fact.relative_sd ? fmt::format(" +- {} %", significant(100 * *fact.relative_sd, 2)) : "";
  return fmt::format("     {} = {}{}, {}\n", fact.path, fact.value_text, spread,
                     name_of(fact.kind));
}

std::string need_text(const Need& need, std::size_t rank) {
  std::string text = fmt::format("\n{}. {}: {} of the variance of the speedup, alone {} to {}\n",
                                 rank, need.subject, whole_percent(need.variance_share),
                                 fixed(need.speedup_low, 3), fixed(need.speedup_high, 3));
  for (const Measurement& measurement : need.measurements) {
    text += fmt::format("   {}\n", measurement.text);
    for (const Fact& fact : measurement.settles) {
      text += fact_text(fact);
    }
  }
  return text;
}

}  // namespace

std::string needs_text(const NeedsReport& report) {
  const Comparison& gain = report.plan.against_remedy;
  std::string text =
      fmt::format("{} over the best uncompressed remedy: {} times as fast (90 %: {} to {}), {}\n",
                  report.plan.label, fixed(gain.speedup, 3), fixed(gain.speedup_low, 3),
                  fixed(gain.speedup_high, 3), name(Payoff::verdict_of(report.plan)));
  text += next_text(report);
  text +=
      report.needs.empty()
          ? "\nEvery number that it reads is measured or published.\n"
          : "\nWhat is assumed or of a data sheet: what decides the verdict first, and of each the "
            "numbers that are\nleast certain by themselves (+-)\n";
  for (std::size_t i = 0; i < report.needs.size(); ++i) {
    text += need_text(report.needs[i], i + 1);
  }
  const std::string beyond = extrapolation_sentence(report.trust);
  return beyond.empty() ? text : text + "\n" + beyond + "\n";
}

}  // namespace payoff
