// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/prediction_report.hpp"
#include "cli/run_report.hpp"
#include "cli/table.hpp"
#include "cli/training_text.hpp"
#include "cli/verdict_text.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr Seconds hour = 3600_s;

// The unit that people plan a training in.
std::pair<Seconds, std::string> unit_of(Seconds time) {
  if (time < 1_s) {
    return {1_ms, "ms"};
  }
  return time < hour        ? std::pair{1_s, std::string("s")}
         : time < 48 * hour ? std::pair{hour, std::string("h")}
                            : std::pair{24 * hour, std::string("d")};
}

std::string time_text(Seconds time, Seconds low, Seconds high) {
  const auto [unit, name] = unit_of(time);
  return with_interval(time / unit, low / unit, high / unit, name);
}

struct Row {
  std::string what;
  double steps{};
  Seconds time{};
  Seconds low{};
  Seconds high{};
  Bytes sent{};
  std::string speedup;
};

void add(const RunReport& report, const Row& row, bool priced, Table& table) {
  std::vector<std::string> cells{
      row.what,
      number_text(row.steps, 6),
      time_text(row.time / row.steps, row.low / row.steps, row.high / row.steps),
      time_text(row.time, row.low, row.high),
      to_text(row.sent),
      number_text(report.gpu_hours(row.time))};
  if (priced) {
    cells.push_back(number_text(*report.cost_usd(row.time)) + " USD");
  }
  cells.push_back(row.speedup);
  table.add(std::move(cells));
}

Table table_of(bool priced) {
  std::vector<Column> columns{{"phase", Align::left},       {"steps", Align::right},
                              {"a step", Align::right},     {"time", Align::right},
                              {"sent a GPU", Align::right}, {"GPU hours", Align::right}};
  if (priced) {
    columns.push_back({"cost", Align::right});
  }
  columns.push_back({"vs uncompressed", Align::right});
  return Table(std::move(columns));
}

std::string table_text(const RunReport& report) {
  const RunPayoff& run = report.run;
  const bool priced = report.cost_usd(1_s).has_value();
  Table table = table_of(priced);
  for (std::size_t i = 0; i < run.phases.size(); ++i) {
    const PhasePayoff& phase = run.phases[i];
    add(report,
        {phase_text(report.schedule().phases[i], phase), phase.steps, phase.time, phase.time_low,
         phase.time_high, phase.sent, speedup_text(phase.against_uncompressed)},
        priced, table);
  }
  add(report,
      {"the whole run", run.steps, run.time, run.time_low, run.time_high, run.sent,
       speedup_text(run.against_uncompressed)},
      priced, table);
  const DenseRun& dense = run.uncompressed;
  add(report,
      {"uncompressed", run.iterations, dense.time, dense.time_low, dense.time_high, dense.sent,
       "1.00"},
      priced, table);
  if (!run.remedy.description.empty()) {
    const DenseRun& with = run.with_remedy;
    add(report,
        {"best remedy: " + run.remedy.description, run.iterations / run.remedy.batches, with.time,
         with.time_low, with.time_high, with.sent, significant(dense.time / with.time)},
        priced, table);
  }
  return table.markdown();
}

std::string every_text(double steps) {
  return steps == 1.0 ? "every step" : fmt::format("1 of {} steps", number_text(steps));
}

// How the steps of a phase differ, with what each takes: the numbers of the expectation.
std::string mixture_sentence(const RunPhase& phase, const PhasePayoff& payoff) {
  const auto part = [](const PhaseStep& step, const std::string& what) {
    return fmt::format("{} {} of {}", percent_text(step.share), what, to_text(step.step));
  };
  std::vector<std::string> parts{part(payoff.sending, "send in steps")};
  if (payoff.silent) {
    parts.push_back(part(*payoff.silent, "are silent steps"));
  }
  if (payoff.refreshing) {
    parts.push_back(part(*payoff.refreshing, "refresh (" + payoff.refresh_label + ") in steps"));
  }
  return fmt::format("Steps of \"{}\", expected: {}.\n", phase_text(phase, payoff),
                     fmt::join(parts, ", "));
}

std::string mixtures_text(const RunReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.run.phases.size(); ++i) {
    const PhasePayoff& phase = report.run.phases[i];
    if (phase.silent || phase.refreshing) {
      text += mixture_sentence(report.schedule().phases[i], phase);
    }
  }
  return text;
}

std::string beyond_text(const RunReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.run.phases.size(); ++i) {
    const RunPhase& phase = report.schedule().phases[i];
    const std::string beyond = extrapolation_sentence(report.uses(phase));
    text += beyond.empty()
                ? beyond
                : fmt::format("Of \"{}\" {}\n", phase_text(phase, report.run.phases[i]), beyond);
  }
  return text;
}

}  // namespace

std::string phase_text(const RunPhase& phase, const PhasePayoff& payoff) {
  std::string does = payoff.label;
  if (phase.local_steps > 1.0) {
    does += ", " + every_text(phase.local_steps);
  }
  if (phase.trigger_probability < 1.0) {
    does += fmt::format(", triggered in {}", percent_text(phase.trigger_probability));
  }
  if (phase.refresh) {
    does += fmt::format(", {} in {}", payoff.refresh_label, every_text(phase.refresh->every));
  }
  if (phase.inflation > 0.0) {
    does += fmt::format(", {} more iterations", percent_text(phase.inflation));
  }
  return phase.name.empty() ? does : phase.name + ": " + does;
}

std::string run_verdict(const RunReport& report) {
  const RunPayoff& run = report.run;
  if (!run.fits()) {
    return "Does not fit: some phase needs more memory than a GPU has.";
  }
  std::string gain = fmt::format(
      "the run takes {} instead of {}: {} times as fast as uncompressed",
      time_text(run.time, run.time_low, run.time_high),
      time_text(run.uncompressed.time, run.uncompressed.time_low, run.uncompressed.time_high),
      speedup_text(run.against_uncompressed));
  if (!run.remedy.description.empty()) {
    gain += fmt::format(" and {} times as fast as the best remedy ({})",
                        speedup_text(run.against_remedy), run.remedy.description);
  }
  const std::string slack = slack_clause(run.against_remedy, run.band);
  switch (run.verdict()) {
    case Verdict::pays:
      return "It pays: " + gain + slack;
    case Verdict::no_difference:
      return "No difference: " + gain + slack;
    case Verdict::too_close_to_call:
      return fmt::format("Too close to call (probability {}): {}{}",
                         percent_text(run.against_remedy.probability), gain, slack);
    case Verdict::does_not:
    case Verdict::does_not_fit:
      break;
  }
  return "It does not pay: " + gain + slack;
}

double RunReport::gpu_hours(Seconds time) const {
  return read.experiment.layout.ranks() * (time / hour);
}

std::optional<double> RunReport::cost_usd(Seconds time) const {
  return price > Price{} ? std::optional(price.si * read.experiment.cluster.nodes * (time / 1_s))
                         : std::nullopt;
}

PricedUses RunReport::uses(const RunPhase& phase) const {
  PricedUses uses = uses_of_plan(prepared, schedule().plans[phase.plan]);
  if (phase.refresh) {
    add_uses_of_plan(prepared, schedule().plans[phase.refresh->plan], uses);
  }
  return uses;
}

std::string run_text(const RunReport& report) {
  const std::string mixtures = mixtures_text(report) + beyond_text(report);
  return experiment_headline(report.read.experiment) + "\n\n" + table_text(report) + "\n" +
         (mixtures.empty() ? "" : mixtures + "\n") + run_verdict(report) + "\n";
}

}  // namespace payoff
