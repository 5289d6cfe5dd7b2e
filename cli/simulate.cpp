// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_place.hpp"
#include "cli/profile_library.hpp"
#include "cli/simulation_cost.hpp"
#include "cli/simulation_outlook.hpp"
#include "cli/simulation_problems.hpp"
#include "cli/simulation_report.hpp"
#include "cli/trace_file.hpp"
#include "model/method_on_graph.hpp"
#include "sim/not_folded.hpp"
#include "study/simulation.hpp"

// payoff simulate: every strategy of an experiment run by events.

namespace payoff {
namespace {

constexpr OptionSpec trace_option{
    "--trace", "FILE", "the timeline of one strategy, for ui.perfetto.dev; no `-` for stdout",
    Takes::value, true};
constexpr OptionSpec simulated_plan_option{
    "--plan", "LABEL", "simulate this strategy alone; default: all, the last one traced",
    Takes::value};
constexpr OptionSpec no_fold_option{
    "--no-fold", "", "with a topology: run every rank by itself, to see that nothing changes",
    Takes::nothing};

constexpr OptionSpec level_option{
    "--level", "NAME",
    "fluid (default): a message is one flow; steps: every send of its collective", Takes::value};

bool wants_steps(const Arguments& arguments, Session& session) {
  const std::optional<Argument> asked = arguments.value(level_option.name);
  const std::vector<std::pair<std::string, bool>> levels{{"fluid", false}, {"steps", true}};
  return asked && named_value("a level", *asked, levels, session).value_or(false);
}

// The strategies to run: all, or the one that was named.
std::vector<CompressionPlan> wanted_plans(const Experiment& experiment, const Arguments& arguments,
                                          Session& session) {
  const std::optional<Argument> label = arguments.value(simulated_plan_option.name);
  if (!label) {
    return experiment.plans;
  }
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t i = 0; i < experiment.plans.size(); ++i) {
    names.emplace_back(experiment.plans[i].label, i);
  }
  const std::optional<std::size_t> plan = named_value("a strategy", *label, names, session);
  return plan ? std::vector<CompressionPlan>{experiment.plans[*plan]}
              : std::vector<CompressionPlan>{};
}

// Where a file cannot be made is known before the run.
void check_trace(const Arguments& arguments, Session& session) {
  const std::optional<Argument> file = arguments.value(trace_option.name);
  if (!file) {
    return;
  }
  if (file->text == "-" || is_standard_stream(file->text)) {
    session.diagnostics().error(file->span,
                                "`--trace` needs the name of a file: standard output has the "
                                "table, standard error the notes",
                                {}, "`--trace step.json`");
    return;
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(file->text, unknown)) {
    session.diagnostics().error(file->span, fmt::format("`{}` is a folder", file->text), {},
                                "`--trace step.json`");
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(file->text).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown)) {
    session.diagnostics().error(file->span, fmt::format("`{}`: there is no folder `{}`",
                                                        trace_option.name, folder.string()));
  }
}

// Without a topology nothing is folded: there are no ranks that could be listed.
void check_fold(const Arguments& arguments, const ReadExperiment& read, bool steps,
                Session& session) {
  if (steps || !read.cluster_state.is_even() || !arguments.has(no_fold_option.name)) {
    return;
  }
  session.diagnostics().error(
      arguments.value(no_fold_option.name)->span,
      "`--no-fold` needs a topology: in this cluster all GPUs of a pipeline stage are alike, and "
      "one of them is simulated",
      "nothing is folded",
      "`--set cluster.topology=FILE` says which links there are; or `--level steps`, which runs "
      "every rank");
}

// What does not fold by coordinates is listed rank by rank, and that has a limit.
void check_listed(const Arguments& arguments, const ReadExperiment& read, bool steps,
                  Session& session) {
  const std::int64_t ranks = read.experiment.layout.ranks();
  const bool lists = steps || (arguments.has(no_fold_option.name) && !read.cluster_state.is_even());
  if (!lists || ranks <= sim::most_listed_ranks) {
    return;
  }
  const std::string_view option = steps ? level_option.name : no_fold_option.name;
  const PreparedExperiment prepared(read.experiment);
  const std::uint64_t events = sim::listed_events(prepared.plan(CompressionPlan{}));
  session.diagnostics().error(
      arguments.value(option)->span,
      fmt::format("`{}` lists ranks one by one: {}, some {} million events{}, are more than {}",
                  steps ? "--level steps" : option, ranks,
                  std::max<std::uint64_t>(1, events / 1'000'000), steps ? " without the sends" : "",
                  sim::most_listed_ranks),
      {}, fmt::format("leave `{}` away, or simulate a smaller job", option));
}

// Everything that is wrong is found, and the analytical answers are there, before the first event.
void prepare_reports(Simulation& simulation, const PreparedExperiment& prepared,
                     const std::vector<CompressionPlan>& plans, const PositionMap& positions,
                     SimulationReport& report, Session& session) {
  StrategyProblems problems;
  for (const CompressionPlan& plan : plans) {
    Simulation::Outlook outlook = simulation.outlook(plan);
    PlanSimulation& result = report.plans.emplace_back();
    result.label = plan.label;
    result.over_graph = has_graph(plan);
    result.estimate = outlook.estimate;
    report.fold = outlook.fold;
    problems.emplace_back(plan.label, std::move(outlook.problems));
  }
  report_problems(problems, positions, session);
  for (std::size_t i = 0; i < plans.size() && !session.diagnostics().has_errors(); ++i) {
    report.plans[i].analytical = prepared.predict(plans[i]);
  }
}

// Until Ctrl-C. What goes wrong on the way is told together, once where it is the same.
void run_plans(Simulation& simulation, const std::vector<CompressionPlan>& plans,
               std::optional<TraceFile>& trace, SimulationReport& report,
               StrategyProblems& problems) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool traced = trace && i + 1 == plans.size();
    PlanSimulation& result = report.plans[i];
    result.simulated = simulation.run(plans[i], traced ? &trace->writer() : nullptr);
    auto& [label, found] = problems.emplace_back(plans[i].label, Problems{});
    if (result.simulated.problem) {
      found.push_back(*result.simulated.problem);
    }
    if (result.simulated.interrupted) {
      report.plans.resize(i + 1);
      return;
    }
  }
}

// A signal finds the timeline either not begun or guarded.
void begin_trace(const std::optional<Argument>& name, std::optional<TraceFile>& trace,
                 std::optional<InterruptGuard>& guard) {
  const HeldSignals held;
  if (name) {
    trace.emplace(name->text);
  }
  guard.emplace(trace ? &*trace : nullptr);
}

std::string why_not_folded(const SimulationReport& report, const ReadExperiment& read,
                           const sim::PlatformRules& rules) {
  return report.plans.back().over_graph
             ? "neighbours in a graph tell them apart"
             : sim::why_not_folded(read.cluster_state, read.experiment.layout, rules);
}

ExitCode finish(const SimulationReport& report, const ReadExperiment& read, const Library& library,
                const Arguments& arguments, Session& session) {
  OutputFiles files;
  deliver({simulation_text(report), simulation_json(report, read, library, session), ""}, arguments,
          files, session);
  const ExitCode code = session.report();
  return report.plans.back().simulated.interrupted ? ExitCode::failure : code;
}

struct SimulateQuestion {
  std::optional<ReadExperiment> read;
  std::vector<CompressionPlan> plans;
  sim::SimOptions options;
  bool steps{};
};

// All of its mistakes are told in one run.
SimulateQuestion read_simulate_question(const Arguments& arguments, const Library& library,
                                        Session& session) {
  SimulateQuestion question;
  question.options.event_limit = read_event_limit(arguments, true, session);
  question.read = read_experiment_input(arguments, library, session, NodeKinds::several);
  if (question.read) {
    question.plans = wanted_plans(question.read->experiment, arguments, session);
  }
  question.steps = wants_steps(arguments, session);
  check_trace(arguments, session);
  if (question.read) {
    check_fold(arguments, *question.read, question.steps, session);
    check_listed(arguments, *question.read, question.steps, session);
  }
  return question;
}

ExitCode run_simulate(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  auto [read, plans, options, steps] = read_simulate_question(arguments, library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  const std::optional<Argument> trace_name = arguments.value(trace_option.name);
  std::optional<TraceFile> trace;
  std::optional<InterruptGuard> guard;
  begin_trace(trace_name, trace, guard);
  options.stop = &InterruptGuard::flag();
  const PreparedExperiment prepared(read->experiment);
  const bool folds = !arguments.has(no_fold_option.name);
  const sim::PlatformRules rules{folds, folds, steps};
  SimulationReport report{read->experiment, trust_in(prepared, read->facts), {}, {}, steps, ""};
  Simulation simulation(prepared, read->cluster_state, options, rules);
  prepare_reports(simulation, prepared, plans, read->positions, report, session);
  if (report.fold.places == report.fold.ranks) {
    report.not_folded = why_not_folded(report, *read, rules);
  }
  if (!session.diagnostics().has_errors()) {
    announce_simulation(
        report,
        sim::how_little_folds(report.fold, read->cluster_state, read->experiment.layout, rules),
        trace_name, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  InterruptGuard::begin_polling();
  StrategyProblems problems;
  try {
    run_plans(simulation, plans, trace, report, problems);
  } catch (const sim::TraceError& error) {
    trace->fail(error.what());
  }
  report_problems(problems, read->positions, session);
  if (session.diagnostics().has_errors()) {
    session.started();
    return session.report();
  }
  if (trace) {
    trace->commit();
  }
  return finish(report, *read, library, arguments, session);
}

}  // namespace

Command simulate_command() {
  return {"simulate",
          "runs a training step by events: critical path, links, timeline",
          "payoff simulate examples/01-resnet50-v100/experiment.yaml --trace step.json\n"
          "  payoff simulate --model gpt3-175b --cluster selene --nodes 128 --tp 8 --pp 8 --dp 16 "
          "--micro-batch 1 --global-batch 1536\n"
          "  payoff simulate --model gpt2 --cluster p3-8xlarge --nodes 2 --dp 8 --micro-batch 4 "
          "--level steps",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({simulated_plan_option, trace_option, event_limit_option, level_option,
                              no_fold_option, json_option}),
          run_simulate};
}

}  // namespace payoff
