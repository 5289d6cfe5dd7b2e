// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/observation_option.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/prediction_report.hpp"
#include "cli/profile_library.hpp"
#include "cli/simulation_cost.hpp"
#include "cli/verdict_text.hpp"
#include "cli/yaml_writer.hpp"
#include "profiles/positions.hpp"
#include "study/break_even.hpp"
#include "study/payoff.hpp"

// payoff predict: one experiment, every strategy, one verdict.

namespace payoff {
namespace {

constexpr OptionSpec save_option{"--save", "FILE", "writes the experiment as a file of its own",
                                 Takes::value, true};
constexpr OptionSpec fail_option{"--fail-if-no-payoff", "",
                                 "exit with 3 unless some strategy beats the best remedy",
                                 Takes::nothing};
constexpr OptionSpec band_option{
    "--band", "SHARE", "gains and losses within it are no difference; default 1 %", Takes::value};

ExitCode deliver_prediction(const PredictionReport& report, const Arguments& arguments,
                            Session& session) {
  OutputFiles files;
  if (const auto save = arguments.value(save_option.name)) {
    files.add(save->text, written_yaml(report.read.document.root));
  }
  deliver({prediction_text(report), prediction_json(report, session), prediction_csv(report)},
          arguments, files, session);
  if (const ExitCode code = session.report(); code != ExitCode::success) {
    return code;
  }
  const bool pays = report.payoff.overall_verdict() == Verdict::pays;
  return arguments.has(fail_option.name) && !pays ? ExitCode::check_failed : ExitCode::success;
}

ExitCode run_predict(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  AssessOptions options;
  const Measurements measurements = read_measurements(arguments, session);
  options.observed = measurements.observations();
  options.collectives = measurements.collectives();
  options.band = ratio_value(arguments, band_option.name, noise_band, session);
  const TrainingQuestion training = read_training_question(arguments, session);
  const std::vector<Engine> engines = read_engines(arguments, session);
  const bool simulates =
      std::find(engines.begin(), engines.end(), Engine::simulated) != engines.end();
  const std::uint64_t event_limit = read_event_limit(arguments, simulates, session);
  const std::optional<ReadExperiment> read =
      read_experiment_input(arguments, library, session, NodeKinds::several);
  if (read) {
    report_measurement_problems(read->experiment, measurements, session);
    if (training.usd_per_gbps) {  // of one sort of NIC
      refuse_node_kinds(*read, session, network_price_option.name);
    }
  }
  check_save(arguments, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_unseen_state(read->cluster_state, engines, session);
  options.limits = read->limits;
  options.sensitivity = true;
  const PreparedExperiment prepared(read->experiment);
  sim::SimOptions limits;
  limits.event_limit = event_limit;
  std::vector<EngineAnswers> answers = ask_engines(engines, prepared, *read, limits, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  Payoff payoff = assess(read->experiment, options);
  BreakEvenOptions axes{.rivals = options.limits, .band = options.band};
  if (payoff.observed) {
    axes.mean = payoff.observed->belief.mean;
  }
  const PredictionReport report{*read,
                                prepared,
                                library,
                                options,
                                std::move(payoff),
                                break_evens(read->experiment, axes),
                                std::move(answers),
                                obstacles_of(*read),
                                trust_in(prepared, read->facts),
                                training,
                                nearest_fitting_layout(read->experiment)};
  return deliver_prediction(report, arguments, session);
}

}  // namespace

Command predict_command() {
  return {"predict",
          "predicts a training step with and without compression, and whether it pays",
          "payoff predict examples/01-resnet50-v100/experiment.yaml --bandwidth '25 Gb/s'\n"
          "  payoff predict examples/01-resnet50-v100/experiment.yaml --json result.json\n"
          "  payoff predict --model bert-large --cluster p3-8xlarge --nodes 8 --dp 32 "
          "--compress powersgd:rank=4",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({observed_option, tokens_option, price_option, network_price_option,
                              band_option, engine_option, event_limit_option, save_option,
                              force_option, fail_option, json_option, csv_option}),
          run_predict,
          experiment_details};
}

}  // namespace payoff
