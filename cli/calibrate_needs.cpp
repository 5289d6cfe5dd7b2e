// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_needs.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/calibration_needs.hpp"
#include "cli/experiment_input.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

std::string fact_text(const Fact& fact) {
  const std::string spread =
      fact.relative_sd ? fmt::format(" +- {} %", significant(100 * *fact.relative_sd, 2)) : "";
  return fmt::format("     {} = {}{}, {}\n", fact.path, fact.value_text, spread,
                     name_of(fact.kind));
}

std::string need_text(const Need& need, std::size_t rank) {
  std::string text =
      fmt::format("\n{}. {}: {} % of the variance of the speedup, alone {} to {}\n", rank,
                  need.subject, fixed(std::round(100 * need.variance_share) + 0.0, 0),
                  fixed(need.speedup_low, 3), fixed(need.speedup_high, 3));
  for (const Measurement& measurement : need.measurements) {
    text += fmt::format("   {}\n", measurement.text);
    for (const Fact& fact : measurement.settles) {
      text += fact_text(fact);
    }
  }
  return text;
}

std::string needs_text(const PlanPayoff& plan, const std::vector<Need>& needs) {
  const Comparison& gain = plan.against_remedy;
  std::string text = fmt::format(
      "{} over the best uncompressed remedy: {} times as fast (90 %: {} to {}), {}\n"
      "What would settle it: measurements of what is assumed or of a data sheet, what decides the "
      "verdict first\n",
      plan.label, fixed(gain.speedup, 3), fixed(gain.speedup_low, 3), fixed(gain.speedup_high, 3),
      name(Payoff::verdict_of(plan)));
  for (std::size_t i = 0; i < needs.size(); ++i) {
    text += need_text(needs[i], i + 1);
  }
  return needs.empty() ? text + "\nEvery number that it reads is measured or published.\n" : text;
}

}  // namespace

ExitCode calibrate_needs(const Arguments& arguments, Session& session) {
  const std::vector<Argument>& words = arguments.positionals();
  if (words.size() != 2) {
    session.diagnostics().error(
        words.front().span,
        fmt::format("`needs` takes one experiment, not {} files", words.size() - 1), "",
        "for example `payoff calibrate needs examples/01-resnet50-v100/experiment.yaml`");
    return session.report();
  }
  const Library library = find_library();
  const auto read = read_experiment_input(arguments, words[1], library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  AssessOptions options;
  options.limits = read->limits;
  options.sensitivity = true;
  const Payoff payoff = assess(read->experiment, options);
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr || best->decided_by.empty()) {
    session.diagnostics().error(
        words[1].span, "there is nothing to decide", "",
        "no strategy fits the memory, or none differs from the best uncompressed remedy");
    return session.report();
  }
  const PreparedExperiment prepared(read->experiment);
  session.out() << needs_text(*best,
                              calibration_needs(prepared, trust_in(prepared, read->facts), *best));
  return session.report();
}

}  // namespace payoff
