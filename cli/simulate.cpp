// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/simulation_problems.hpp"
#include "cli/simulation_report.hpp"
#include "cli/trace_file.hpp"
#include "sim/topology_platform.hpp"

// payoff simulate: every strategy of an experiment run by events.

namespace payoff {
namespace {

constexpr OptionSpec trace_option{
    "--trace", "FILE", "the timeline of one strategy, for ui.perfetto.dev", Takes::value, true};
constexpr OptionSpec plan_option{"--plan", "LABEL",
                                 "simulate this strategy alone; default: all, the last one traced",
                                 Takes::value};
constexpr OptionSpec limit_option{
    "--event-limit", "N", "refuse to run more events than this; default 2000000000", Takes::value};

constexpr OptionSpec no_fold_option{
    "--no-fold", "", "with a topology: run every rank by itself, to see that nothing changes",
    Takes::nothing};

constexpr OptionSpec level_option{
    "--level", "NAME",
    "fluid (default): a message is one flow; steps: every send of its collective, rank by rank",
    Takes::value};

bool wants_steps(const Arguments& arguments, Session& session) {
  const std::optional<Argument> asked = arguments.value(level_option.name);
  const std::vector<std::pair<std::string, bool>> levels{{"fluid", false}, {"steps", true}};
  return asked && named_value("a level", *asked, levels, session).value_or(false);
}

// The strategies to run: all, or the one that was named.
std::vector<CompressionPlan> wanted_plans(const Experiment& experiment, const Arguments& arguments,
                                          Session& session) {
  const std::optional<Argument> label = arguments.value(plan_option.name);
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

struct PreparedRun {
  const PreparedExperiment& prepared;
  const ReadExperiment& read;
  sim::SimOptions options;
  sim::PlatformRules rules;
  // Of strategies that exchange between all pairs of ranks, and of those that do not.
  std::array<std::optional<sim::BuiltPlatform>, 2> platforms{};

  const sim::BuiltPlatform& platform(const StepPlan& step) {
    auto& built = platforms[sim::sends_all_to_all(step) ? 1 : 0];
    if (!built) {
      built = sim::build_platform(read.experiment.cluster, read.cluster_state, step, rules);
    }
    return *built;
  }
};

// Everything that is wrong is found, and the analytical answers are there, before the first event.
void prepare_reports(PreparedRun& run, const std::vector<CompressionPlan>& plans,
                     SimulationReport& report, Session& session) {
  StrategyProblems problems;
  for (const CompressionPlan& plan : plans) {
    const StepPlan step = run.prepared.plan(plan);
    PlanSimulation& result = report.plans.emplace_back();
    result.label = plan.label;
    const sim::BuiltPlatform& built = run.platform(step);
    report.fold = built.fold;
    result.estimate = sim::estimate(step, built.platform);
    problems.emplace_back(plan.label, built.problems.empty()
                                          ? sim::check(step, built.platform, run.options)
                                          : built.problems);
  }
  report_problems(problems, run.read.positions, session);
  for (std::size_t i = 0; i < plans.size() && !session.diagnostics().has_errors(); ++i) {
    report.plans[i].analytical = run.prepared.predict(plans[i]);
  }
}

// Until something is wrong or Ctrl-C.
void run_plans(PreparedRun& run, const std::vector<CompressionPlan>& plans,
               std::optional<TraceFile>& trace, SimulationReport& report, Session& session) {
  const InterruptGuard::Polling polling;
  sim::SimOptions options = run.options;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool traced = trace && i + 1 == plans.size();
    options.trace = traced ? &trace->writer() : nullptr;
    PlanSimulation& result = report.plans[i];
    const StepPlan step = run.prepared.plan(plans[i]);
    result.simulated = sim::simulate(step, run.platform(step).platform, options);
    result.simulated.prediction.memory = result.analytical.memory;
    if (result.simulated.problem) {
      report_problems({{plans[i].label, {*result.simulated.problem}}}, run.read.positions, session);
    }
    if (result.simulated.interrupted) {
      report.plans.resize(i + 1);
      return;
    }
  }
}

// Above this many events a run takes seconds, and a timeline of them more than viewers like.
constexpr std::uint64_t many_events = 3'000'000;
constexpr Bytes large_trace = 300_MB;

std::string megabytes(Bytes size) { return fmt::format("{:.0f} MB", std::ceil(size / 1_MB)); }

// By the rates of docs/performance.md, where other programs keep the machine busy.
std::string duration(std::uint64_t events) {
  constexpr std::uint64_t events_a_minute = 180'000'000;  // 3 million a second
  const std::uint64_t minutes = (events + events_a_minute - 1) / events_a_minute;
  return minutes > 1 ? fmt::format("some {} minutes", minutes) : "less than a minute";
}

// What a long run will cost, told before it starts; a timeline that the disk cannot take is
// refused.
void announce(const SimulationReport& report, const std::optional<Argument>& trace,
              Session& session) {
  sim::Estimate all;
  for (const PlanSimulation& plan : report.plans) {
    all.events += plan.estimate.events;
    all.memory = std::max(all.memory, plan.estimate.memory);
  }
  all.trace = trace ? report.plans.back().estimate.trace : 0_B;
  if (trace) {
    const std::filesystem::path folder = std::filesystem::path(trace->text).parent_path();
    std::error_code unknown;
    const auto space = std::filesystem::space(folder.empty() ? "." : folder, unknown);
    if (!unknown && all.trace > Bytes{static_cast<double>(space.available)}) {
      session.diagnostics().error(
          trace->span,
          fmt::format("the timeline would take about {}, and the disk has {} left",
                      megabytes(all.trace), megabytes(Bytes{static_cast<double>(space.available)})),
          {}, "simulate fewer micro-batches: the pipeline repeats itself");
    } else if (all.trace > large_trace) {
      session.diagnostics().warning(
          trace->span, fmt::format("the timeline takes about {}", megabytes(all.trace)), {},
          "ui.perfetto.dev takes files of some hundred MB: simulate fewer micro-batches");
    }
  }
  if (all.events > many_events && !session.diagnostics().has_errors()) {
    session.note(fmt::format("simulating up to {} events, {}, in {} of memory{}; Ctrl-C ends it{}",
                             all.events, duration(all.events), megabytes(all.memory),
                             trace ? ", a timeline of about " + megabytes(all.trace) : "",
                             trace ? " and leaves a valid timeline" : ""));
  }
}

ExitCode finish(const SimulationReport& report, const ReadExperiment& read, const Library& library,
                const Arguments& arguments, Session& session) {
  OutputFiles files;
  deliver({simulation_text(report), simulation_json(report, read, library, session), ""}, arguments,
          files, session);
  const ExitCode code = session.report();
  return report.plans.back().simulated.interrupted ? ExitCode::failure : code;
}

ExitCode run_simulate(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  sim::SimOptions options;
  constexpr std::int64_t most_events = 1'000'000'000'000'000;
  if (const auto limit = long_value(arguments, limit_option.name, {1, most_events}, session)) {
    options.event_limit = static_cast<std::uint64_t>(*limit);
  }
  const std::optional<ReadExperiment> read = read_experiment_input(arguments, library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  const std::vector<CompressionPlan> plans = wanted_plans(read->experiment, arguments, session);
  const bool steps = wants_steps(arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  const std::optional<Argument> trace_name = arguments.value(trace_option.name);
  std::optional<TraceFile> trace;
  std::optional<InterruptGuard> guard;
  {
    const HeldSignals held;
    if (trace_name) {
      trace.emplace(trace_name->text);
    }
    guard.emplace(trace ? &*trace : nullptr);
  }
  options.stop = &InterruptGuard::flag();
  const PreparedExperiment prepared(read->experiment);
  SimulationReport report{read->experiment,
                          trust_in(prepared, read->facts),
                          {},
                          {},
                          steps,
                          !steps && !arguments.has(no_fold_option.name)};
  PreparedRun run{prepared, *read, options, {report.folds, report.folds, steps}};
  prepare_reports(run, plans, report, session);
  if (!session.diagnostics().has_errors()) {
    announce(report, trace_name, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  try {
    run_plans(run, plans, trace, report, session);
  } catch (const sim::TraceError& error) {
    trace->fail(error.what());
  }
  if (session.diagnostics().has_errors()) {
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
          experiment_options(
              {plan_option, trace_option, limit_option, level_option, no_fold_option, json_option}),
          run_simulate};
}

}  // namespace payoff
