// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "cli/result_kind.hpp"
#include "cli/simulation_cost.hpp"
#include "cli/sweep_axes.hpp"
#include "cli/sweep_cost.hpp"
#include "cli/sweep_log.hpp"
#include "cli/sweep_mistakes.hpp"
#include "cli/sweep_run.hpp"
#include "cli/sweep_shard.hpp"

// payoff sweep: one experiment with many values of some keys.

namespace payoff {
namespace {

constexpr OptionSpec zip_option{
    "--zip", "", "the axes go together, value by value, not in all combinations", Takes::nothing};
constexpr OptionSpec sample_option{"--sample", "N", "N random combinations instead of all",
                                   Takes::value};
constexpr OptionSpec latin_option{
    "--latin", "N", "N jobs, every value of an axis equally often (Latin hypercube)", Takes::value};
constexpr OptionSpec seed_option{"--seed", "N", "of --sample and --latin; default 1", Takes::value};
constexpr OptionSpec sim_option{"--engine", "NAME", "analytical (the default) or sim",
                                Takes::value};
constexpr OptionSpec verdicts_option{
    "--verdicts", "", "intervals, probabilities and verdicts too: much slower", Takes::nothing};
constexpr OptionSpec output_option{
    "-o", "FILE", "the results as JSON Lines; with shards one file each: NAME.0-of-8.jsonl",
    Takes::value, true};
constexpr OptionSpec dry_option{
    "--dry-run", "", "lists the jobs, of many the first and the last, and says how long all take",
    Takes::nothing};

std::uint64_t read_seed(const Arguments& arguments, Session& session) {
  const auto seed = long_value(arguments, seed_option.name, {0, 1'000'000'000}, session);
  return static_cast<std::uint64_t>(seed.value_or(1));
}

// Of axes that go together; of one that could not be read nobody knows.
void check_lengths(const SweepInput& input, Session& session) {
  for (std::size_t a = 1; a < input.axes.size(); ++a) {
    if (!input.has_failed() && input.axes[a].values.size() != input.axes[0].values.size()) {
      session.diagnostics().error(
          input.arguments[a].span,
          fmt::format("`--zip`: the axis has {} values, the first one {}",
                      input.axes[a].values.size(), input.axes[0].values.size()));
    }
  }
}

SweepDesign read_design(const Arguments& arguments, const SweepInput& input, Session& session) {
  constexpr std::int64_t most = 10'000'000;
  const auto sample = long_value(arguments, sample_option.name, {1, most}, session);
  const auto latin = long_value(arguments, latin_option.name, {1, most}, session);
  const int ways = (sample ? 1 : 0) + (latin ? 1 : 0) + (arguments.has(zip_option.name) ? 1 : 0);
  if (ways > 1) {
    session.diagnostics().error(std::nullopt, "--zip, --sample and --latin exclude each other");
  }
  // The header has the seed: one that decides nothing would make two questions of one.
  if (const auto seed = arguments.value(seed_option.name);
      seed && !arguments.has(sample_option.name) && !arguments.has(latin_option.name)) {
    session.diagnostics().error(seed->span, "`--seed` needs --sample or --latin");
  }
  const bool zipped = arguments.has(zip_option.name);
  if (zipped) {
    check_lengths(input, session);
  }
  if (session.diagnostics().has_errors()) {  // what else is wrong is looked for in all combinations
    return {input.axes, Sampling::grid};
  }
  if (const std::uint64_t all = grid_size(input.axes);
      sample && static_cast<std::uint64_t>(*sample) > all) {
    session.diagnostics().warning(
        arguments.value(sample_option.name)->span,
        fmt::format("the axes have {} combinations, fewer than `--sample`", all), {},
        "each is run once, in the order of the grid");
  }
  const Sampling sampling = zipped   ? Sampling::zipped
                            : sample ? Sampling::random
                            : latin  ? Sampling::latin
                                     : Sampling::grid;
  return {input.axes, sampling, static_cast<std::uint64_t>(sample ? *sample : latin.value_or(0)),
          read_seed(arguments, session)};
}

// Told as such: what is missing in it would be told under the axes, which make its first sections.
bool is_empty_file(const ExperimentDocument& base, Session& session) {
  const Node& root = base.document.root;
  const bool is_file = !session.sources()[base.document.source].argument.has_value();
  if (!is_file || !root.entries.empty() || !base.settings.empty()) {
    return false;
  }
  session.diagnostics().error(root.span, "the document is empty", {},
                              "write it as `key: value` lines");
  return true;
}

// More nodes are more replicas, and another cluster has other nodes, unless the axes say which: a
// dp that the file states for its own number of GPUs would leave one job of the axis.
void free_replicas(const SweepInput& input, Node& root, Session& session) {
  const auto varies = [&](std::string_view key) {
    return std::any_of(input.axes.begin(), input.axes.end(),
                       [key](const SweepAxis& axis) { return axis.key == key; });
  };
  Entry* layout = root.find("layout");
  const bool size_varies = varies("cluster.nodes") || varies("cluster.gpus_per_node") ||
                           varies("cluster") || varies("cluster.profile");
  if (!size_varies || varies("layout.dp") || layout == nullptr ||
      layout->value.find("dp") == nullptr) {
    return;
  }
  std::erase_if(layout->value.entries, [](const Entry& entry) { return entry.key == "dp"; });
  session.note("dp is left open: every job has as many replicas as its GPUs hold");
}

Engine read_engine(const Arguments& arguments, Session& session) {
  const auto given = arguments.value(sim_option.name);
  return given ? named_value<Engine>(
                     "an engine", *given,
                     {{"analytical", Engine::analytical}, {"sim", Engine::simulated}}, session)
                     .value_or(Engine::analytical)
               : Engine::analytical;
}

std::string_view name_of(Sampling sampling) {
  switch (sampling) {
    case Sampling::zipped:
      return "zipped";
    case Sampling::random:
      return "random";
    case Sampling::latin:
      return "latin";
    case Sampling::grid:
      break;
  }
  return "grid";
}

// What was asked, and of what: two files whose first lines differ are results of two questions.
std::string header(const Sweep& sweep, const ReadExperiment& first, const Session& session) {
  const SweepQuestion& question = sweep.question;
  nlohmann::ordered_json json = json_envelope("sweep", session);
  json.erase("command_line");  // --resume is no other question
  json["experiment"] = experiment_json(first);
  json["profiles"] = profiles_json(question.library, session.sources(), first);
  json["axes"] = nlohmann::ordered_json::array();
  for (const SweepAxis& axis : question.design.axes()) {
    json["axes"].push_back({{"key", axis.key}, {"values", axis.values}});
  }
  json["sampling"] = name_of(question.design.sampling());
  json["seed"] = sweep.seed;
  json["engine"] = name(question.engine);
  json["verdicts"] = question.verdicts;
  json["strategies"] = question.strategies;
  json["jobs"] = question.design.jobs();
  json["shard"] = {{"index", sweep.shard.index}, {"of", sweep.shard.of}};
  return json.dump() + "\n";
}

void refuse_existing(const std::filesystem::path& file, const Argument& argument,
                     std::string_view help, const Arguments& arguments, Session& session) {
  if (std::filesystem::is_regular_file(file) && !arguments.has(resume_option.name)) {
    session.diagnostics().error(argument.span, fmt::format("{} exists", file.string()), {},
                                std::string(help));
  }
}

// What keeps the table from being written once the sweep is done; else empty.
std::string obstacle_to_csv(const SweepOutputs& outputs, const Shard& shard) {
  const auto file = outputs.csv_file(shard);
  const std::filesystem::path folder = file && file->has_parent_path() ? file->parent_path() : ".";
  return std::filesystem::is_directory(folder)
             ? ""
             : fmt::format("cannot write {}: {} is no folder", file->string(), folder.string());
}

void check_outputs(const SweepOutputs& outputs, const Shard& shard, const Arguments& arguments,
                   Session& session) {
  if (const auto csv = outputs.csv_file(shard)) {
    refuse_existing(*csv, *outputs.csv,
                    "nothing is written over results: remove it, or name another", arguments,
                    session);
  }
  if (!outputs.log) {
    if (arguments.has(resume_option.name)) {
      session.diagnostics().error(std::nullopt, "--resume goes on with a file: add -o FILE");
    }
    return;
  }
  if (outputs.log->text == "-") {
    session.diagnostics().error(outputs.log->span, "`-` is no file that a sweep could go on with",
                                {}, "without -o the results are printed");
    return;
  }
  check_json_lines(outputs.log,
                   "`--csv FILE` writes CSV, and so does `payoff merge runs.jsonl --csv runs.csv` "
                   "of what `-o runs.jsonl` wrote",
                   session);
  refuse_existing(shard_file(outputs.log->text, shard), *outputs.log,
                  "--resume goes on with it; nothing is written over results", arguments, session);
}

// All that the command line says, but the axes.
void prepare(const SweepInput& input, ExperimentDocument& base, Session& session) {
  apply_settings(base, session);
  input.put_methods(base.document.root, session.diagnostics());
  session.sources().mark_users_own(base.document.source);
  leave_out_none(base.document.root);
  free_replicas(input, base.document.root, session);
}

ExitCode run_sweep(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const SweepInput input = read_axes(arguments, session);
  std::optional<ExperimentDocument> base = experiment_document(arguments, input.keys, session);
  const SweepDesign design = read_design(arguments, input, session);
  const Engine engine = read_engine(arguments, session);
  sim::SimOptions simulation;
  simulation.event_limit = read_event_limit(arguments, engine == Engine::simulated, session);
  const Shard shard = read_shard(arguments, session);
  (void)integer_value(arguments, threads_option.name, {1, 1024}, session);
  (void)inputs_are_kept(arguments, session);
  if (!base || is_empty_file(*base, session) || refuse_grid(base->document, session)) {
    return session.report();
  }
  prepare(input, *base, session);
  Sweep sweep{{library, std::move(base->document), session.sources(), input, design, engine,
               simulation, arguments.has(verdicts_option.name)},
              shard,
              read_seed(arguments, session)};
  const std::optional<ReadExperiment> first = report_mistakes(sweep.question, session);
  sweep.question.sources = session.sources();  // with every file that was read
  const SweepOutputs outputs{arguments.value(output_option.name),
                             arguments.value(sweep_csv_option.name)};
  check_outputs(outputs, shard, arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  if (const std::string obstacle = obstacle_to_csv(outputs, shard); !obstacle.empty()) {
    return session.report_failure(obstacle);
  }
  if (!first) {
    return session.report_failure("no job of the sweep can be read");
  }
  for (const CompressionPlan& plan : first->experiment.plans) {
    sweep.question.strategies.push_back(plan.label);
  }
  if (arguments.has(dry_option.name)) {
    say_plan(sweep.question, sweep.shard, !arguments.has(no_share_option.name), session);
    return session.report();
  }
  return run_jobs(sweep, header(sweep, *first, session), outputs, arguments, session);
}

}  // namespace

Command sweep_command() {
  return {"sweep",
          "predicts one experiment with many values of some keys",
          "payoff sweep examples/01-resnet50-v100/experiment.yaml --over nodes=1..24:x2 "
          "--over bandwidth='10 Gb/s'..'100 Gb/s':x2 -o runs.jsonl",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({over_option, zip_option, sample_option, latin_option, seed_option,
                              sim_option, event_limit_option, verdicts_option, output_option,
                              sweep_csv_option, resume_option, shard_option, threads_option,
                              no_share_option, dry_option}),
          run_sweep,
          experiment_details};
}

}  // namespace payoff
