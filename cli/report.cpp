// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/observation_option.hpp"
#include "cli/output_guard.hpp"
#include "cli/prediction_report.hpp"
#include "cli/profile_library.hpp"
#include "cli/report_choices.hpp"
#include "cli/report_page.hpp"
#include "cli/result_kind.hpp"
#include "model/node_kinds.hpp"
#include "profiles/document.hpp"
#include "profiles/override.hpp"
#include "sim/topology.hpp"

// payoff report: a prediction as one page that opens without a network, with sliders.

namespace payoff {
namespace {

constexpr int most_gpus_offered = 65536;

bool is_result(const Argument& run) {
  return std::filesystem::path(run.text).extension() == ".json";
}

// The experiment that a result of `payoff predict --json` was made from.
std::optional<Document> document_of(const Argument& run, Session& session) {
  const auto refuse = [&](const std::string& why) {
    session.diagnostics().error(run.span, backquoted(run.text) + " " + why, {},
                                "an experiment file, or a result of `payoff predict --json`");
    return std::nullopt;
  };
  session.reads(run.text);
  const auto json = nlohmann::json::parse(read_text_file(run.text), nullptr, false);
  const bool is_object = json.is_object() && json.contains("experiment");
  const auto& experiment = is_object ? json["experiment"] : json;
  if (!experiment.is_object() || !experiment.contains("yaml") || !experiment["yaml"].is_string()) {
    return refuse("is no result with an experiment in it");
  }
  return load_yaml_text("experiment of " + run.text, experiment["yaml"].get<std::string>(),
                        session.sources(), session.diagnostics());
}

// A result says what it was made from: nothing goes over it.
void refuse_overrides(const Arguments& arguments, Session& session) {
  for (const OptionSpec& option : experiment_options({})) {
    if (const auto given = arguments.value(option.name)) {
      session.diagnostics().error(given->span,
                                  fmt::format("`{}` does not go over a result", option.name), {},
                                  "give the experiment file instead of the result");
    }
  }
}

std::optional<ReadExperiment> read_run(const Arguments& arguments, const Library& library,
                                       Session& session) {
  const std::vector<Argument>& words = arguments.positionals();
  if (words.empty() || !is_result(words.front())) {
    return read_experiment_input(arguments, library, session, NodeKinds::several);
  }
  refuse_overrides(arguments, session);
  std::optional<Document> document = document_of(words.front(), session);
  if (!document || refuse_grid(*document, session) || session.diagnostics().has_errors()) {
    return std::nullopt;
  }
  auto read = read_experiment(
      *std::move(document), {},
      {library, session.sources(), session.diagnostics(), true, sim::find_in_links});
  (void)inputs_are_kept(arguments, session);
  return session.diagnostics().has_errors() ? std::nullopt : std::move(read);
}

void check_output(const Arguments& arguments, Session& session) {
  const auto output = arguments.value("-o");
  if (!output) {
    session.diagnostics().error(std::nullopt, "`payoff report` needs -o FILE", {},
                                "for example `payoff report EXPERIMENT.yaml -o report.html`");
    return;
  }
  const std::filesystem::path extension = std::filesystem::path(output->text).extension();
  if (extension != ".html" && extension != ".htm") {
    session.diagnostics().error(output->span, "the name ends in neither .html nor .htm");
  }
}

// What the page needs to say the same thing as a command. Where the file lists `node_kinds`, also a
// single one, nodes and their NICs are keys of the kinds, and `--nodes` and `--bandwidth` are none.
nlohmann::ordered_json command_json(const Arguments& arguments, const ReadExperiment& read) {
  const std::vector<Argument>& words = arguments.positionals();
  const bool is_file = !words.empty() && !is_result(words.front());
  const Entry* layout = read.document.root.find("layout");
  const Entry* cluster = read.document.root.find("cluster");
  const Entry* kinds = cluster == nullptr ? nullptr : cluster->value.find("node_kinds");
  const Entry* model = read.document.root.find("model");
  const Entry* profile = model == nullptr ? nullptr : model->value.find("profile");
  return {{"experiment", is_file ? words.front().text : "experiment.yaml"},
          {"model", profile == nullptr ? "" : profile->value.text},
          {"has_global_batch", layout != nullptr && layout->value.find("global_batch") != nullptr},
          {"node_kinds", kinds == nullptr ? 0 : kinds->value.items.size()}};
}

nlohmann::ordered_json nic_rates_json(const Cluster& cluster) {
  nlohmann::ordered_json rates = nlohmann::ordered_json::array();
  for (const Cluster& kind : each_kind(cluster)) {
    rates.push_back(kind.nic.si);
  }
  return rates;
}

// `nic_bytes_per_second` is null where the kinds of nodes differ in it.
nlohmann::ordered_json base_json(const Experiment& experiment) {
  const ParallelLayout& layout = experiment.layout;
  const Cluster& cluster = experiment.cluster;
  const std::optional<Bandwidth> nic = nic_rate(cluster);
  return {{"dp", layout.dp},
          {"ranks_of_replica", layout.tp * layout.cp * layout.pp},
          {"samples_of_replica", layout.micro_batch * layout.micro_batches},
          {"gpus_per_node", cluster.gpus_per_node},
          {"is_mixed", cluster.is_mixed()},
          {"nic_bytes_per_second", nic ? nlohmann::ordered_json(nic->si) : nullptr},
          {"nics_bytes_per_second", nic_rates_json(cluster)},
          {"bucket_bytes", experiment.training.bucket.si},
          {"codec_speed", experiment.training.codec_speed},
          {"draws", AssessOptions{}.draws}};
}

nlohmann::ordered_json choices_json(const web::WhatIf& page) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const web::ModelChoice& model : page.models) {
    models.push_back({{"profile", model.profile}, {"parameters", model.parameters}});
  }
  nlohmann::ordered_json methods = nlohmann::ordered_json::array();
  for (const web::MethodChoice& method : page.methods) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const web::ParameterChoice& parameter : method.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"min", parameter.min},
                            {"max", parameter.max},
                            {"integer", parameter.integer},
                            {"value", method.plan.method->parameters.at(parameter.name)}});
    }
    methods.push_back({{"name", method.plan.method->name},
                       {"description", method.plan.method->description},
                       {"parameters", std::move(parameters)}});
  }
  return {{"models", std::move(models)}, {"methods", std::move(methods)}};
}

nlohmann::ordered_json page_data(const ReadExperiment& read, const Library& library,
                                 const Arguments& arguments, const Session& session) {
  AssessOptions options;
  options.limits = read.limits;
  options.sensitivity = true;
  const PreparedExperiment prepared(read.experiment);
  const PredictionReport report{read,
                                prepared,
                                library,
                                options,
                                assess(read.experiment, options),
                                break_evens(read.experiment, {.rivals = options.limits}),
                                {},
                                obstacles_of(read),
                                trust_in(prepared, read.facts),
                                {},
                                nearest_fitting_layout(read.experiment)};
  const web::WhatIf page = what_if_of(read, options.band, library, session.sources());
  nlohmann::ordered_json data;
  data["result"] = nlohmann::ordered_json::parse(prediction_json(report, session));
  data["trust"] = trust_text(report.trust);
  data["command"] = command_json(arguments, read);
  data["base"] = base_json(read.experiment);
  data["most_gpus"] = most_gpus_offered;
  data["choices"] = choices_json(page);
  data["stored"] = web::store(page);
  return data;
}

ExitCode run_report(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  check_output(arguments, session);
  const std::optional<ReadExperiment> read = read_run(arguments, library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  warn_of_unseen_state(read->cluster_state, {}, session);
  const std::string page = read_page();
  const std::string output = arguments.value("-o")->text;
  OutputFiles files;
  files.add(output, filled_page(page, page_data(*read, library, arguments, session)));
  deliver({fmt::format("{}: a page with sliders; it needs no network\n", output), {}, {}},
          arguments, files, session);
  return session.report();
}

}  // namespace

Command report_command() {
  return {"report",
          "writes a prediction as one page: verdict, tables, charts, and sliders that recompute",
          "payoff report examples/01-resnet50-v100/experiment.yaml -o report.html",
          {"RUN", "an experiment file, or a result of `payoff predict --json`", 0, 1},
          experiment_options(
              {{"-o", "FILE", "the page, a file that ends in .html", Takes::value, true}}),
          run_report,
          experiment_details};
}

}  // namespace payoff
