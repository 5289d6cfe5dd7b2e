// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_needs.hpp"

#include <vector>

#include <fmt/format.h>

#include "cli/calibrate_options.hpp"
#include "cli/calibration_needs.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/needs_report.hpp"
#include "cli/observation_option.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"

namespace payoff {

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
  AssessOptions options;
  const Measurements measurements = read_measurements(arguments, session);
  options.observed = measurements.observations();
  options.collectives = measurements.collectives();
  if (read) {
    report_measurement_problems(read->experiment, measurements, session);
  }
  refuse_options_of_others(arguments, false, session);
  (void)inputs_are_kept(arguments, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  if (read->experiment.plans.size() < 2) {
    session.diagnostics().error(words[1].span, "no strategy is given: there is nothing to decide",
                                "", "list some under `compress`");
    return session.report();
  }
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
  const Trust trust = trust_in(prepared, read->facts);
  const auto needs = calibration_needs(prepared, trust, *best);
  const auto place = static_cast<std::size_t>(best - payoff.plans.data());
  const NextMeasurements next = next_measurements(read->experiment, payoff, place);
  const NeedsReport report{*read, library, *best, needs, next, trust};
  OutputFiles files;
  deliver({needs_text(report), needs_json(report, session), ""}, arguments, files, session);
  return session.report();
}

}  // namespace payoff
