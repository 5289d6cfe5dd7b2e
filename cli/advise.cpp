// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/advice_report.hpp"
#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "cli/usual_plans.hpp"
#include "cli/yaml_writer.hpp"
#include "profiles/override.hpp"

// payoff advise: what of a job's traffic to compress, and how.

namespace payoff {
namespace {

constexpr OptionSpec ratio_option{
    "--most-ratio", "R", "no kind of traffic gets more than R times smaller", Takes::value};
constexpr OptionSpec bits_option{
    "--least-bits", "B", "every kind of traffic keeps B bits an element, on average", Takes::value};
constexpr OptionSpec inflation_option{
    "--inflation", "SHARE", "more iterations that compression may cost: '3 %'", Takes::value};
constexpr OptionSpec save_advice_option{
    "--save", "FILE", "writes the experiment with the advised plan, for payoff predict",
    Takes::value, true};

constexpr std::string_view advise_details =
    "Each kind of traffic (gradients, gathers of weights, sums of tensor parallelism, sends\n"
    "between stages, tokens to experts and back, vectors of embedding tables) is left alone or\n"
    "gets one of the methods that the experiment or --compress names for it; gradients on the\n"
    "compute stream, on a side stream or after backward, sums in all layers or from a quarter,\n"
    "half or three quarters on. Then buckets of gradients are told apart, where that gains more\n"
    "than 1 %. The plan is compared with the best uncompressed remedy and with the best plan as\n"
    "it is written; where it does not beat the remedy, the advice is the remedy. An experiment\n"
    "that names no plans is advised on the usual ones, some of them between nodes alone, on the\n"
    "GPU and by the host.\n"
    "docs/advice.md says how the plan is found.\n"
    "\n";

// The experiment with nothing to compare but the advised plan; where none is, with why.
std::string advised_yaml(const ReadExperiment& read, const Advice& advice, Session& session) {
  Node root = read.document.root;
  const bool compresses = advice.advised > 0;
  const std::string list =
      compresses ? "[\"" + advice.compared.plans[advice.advised].label + "\"]" : "[]";
  apply_override(root, 0, "compress=" + list, session.sources(), session.diagnostics());
  const std::string why =
      compresses ? "" : "# payoff advise: compress nothing: " + reason_for_nothing(advice) + "\n";
  return why + written_yaml(root);
}

ExitCode run_advise(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  AdviceOptions options;
  options.budget.most_ratio =
      number_value(arguments, ratio_option.name, {.min = 1.0, .max = 1e9}, session).value_or(0.0);
  options.budget.least_bits =
      number_value(arguments, bits_option.name, {.min = 0.0, .max = 32.0}, session).value_or(0.0);
  options.budget.inflation = ratio_value(arguments, inflation_option.name, 0.0, session);
  std::optional<ReadExperiment> read = read_experiment_input(arguments, library, session);
  check_save(arguments, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  warn_of_unseen_state(read->cluster_state, {}, session);
  add_usual_plans(*read, library, session);
  options.limits = read->limits;
  const Advice advice = advise(read->experiment, options);
  const AdviceReport report{*read, library, advice, options, PreparedExperiment(advice.compared)};
  OutputFiles files;
  if (const auto save = arguments.value(save_advice_option.name)) {
    files.add(save->text, advised_yaml(*read, advice, session));
  }
  deliver({advice_text(report), advice_json(report, session), {}}, arguments, files, session);
  return session.report();
}

}  // namespace

Command advise_command() {
  return {"advise",
          "says which traffic to compress, with which method and where, within a budget",
          "payoff advise examples/01-resnet50-v100/experiment.yaml --least-bits 1\n"
          "  payoff advise --model bert-large --cluster p3-8xlarge --nodes 8 --micro-batch 8",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({ratio_option, bits_option, inflation_option, save_advice_option,
                              force_option, json_option}),
          run_advise,
          advise_details};
}

}  // namespace payoff
