// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "cli/run_report.hpp"
#include "cli/training_text.hpp"

// payoff run: a whole training whose compression changes as it goes.

namespace payoff {
namespace {

constexpr std::string_view run_details =
    "The experiment says under `run` how its compression changes (docs/runs.md):\n"
    "  run:\n"
    "    epochs: 300                 # or iterations: N\n"
    "    iterations_per_epoch: 98\n"
    "    phases:\n"
    "    - {plan: \"powersgd:rank=2\", share: 20 %}         # or epochs, or iterations\n"
    "    - {plan: \"powersgd:rank=1\", inflation: 2 %}      # the rest; 2 % more iterations\n"
    "Further keys of a phase: name; local_steps: H, exchanged in every H-th step;\n"
    "trigger_probability: 30 %, and then in 30 % of these only; and\n"
    "refresh: {plan: PLAN, every: K}, another plan in every K-th step.\n";

ExitCode run_run(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const std::optional<ReadExperiment> read = read_experiment_input(arguments, library, session);
  const std::optional<Price> price = read_price(arguments, session);
  if (read && !read->run) {
    session.diagnostics().error(std::nullopt, "the experiment has no `run`", {},
                                "`payoff run --help` shows how its phases are written");
  }
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  warn_of_unseen_state(read->cluster_state, {}, session);
  RunOptions options;
  options.limits = read->limits;
  const RunReport report{*read,
                         library,
                         options,
                         price.value_or(read->experiment.cluster.price),
                         assess_run(read->experiment, *read->run, options),
                         PreparedExperiment(read->experiment)};
  OutputFiles files;
  deliver({run_text(report), run_json(report, session), run_csv(report)}, arguments, files,
          session);
  return session.report();
}

}  // namespace

Command run_command() {
  return {"run",
          "predicts a whole training whose compression changes as it goes",
          "payoff run examples/10-accordion-resnet18/experiment.yaml",
          {"EXPERIMENT", "an experiment file with a `run`; options go over its keys", 0, 1},
          experiment_options({price_option, json_option, csv_option}),
          run_run,
          run_details};
}

}  // namespace payoff
