// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/simulation_report.hpp"
#include "cli/trace_file.hpp"

// payoff simulate: every strategy of an experiment run by events.

namespace payoff {
namespace {

constexpr OptionSpec trace_option{
    "--trace", "FILE", "the timeline of one strategy, for ui.perfetto.dev", Takes::value, true};
constexpr OptionSpec plan_option{"--plan", "LABEL",
                                 "simulate this strategy alone; default: all, the last one traced",
                                 Takes::value};
constexpr OptionSpec limit_option{"--event-limit", "N", "refuse to run more events than this",
                                  Takes::value};

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

void report_problems(const Problems& problems, const CompressionPlan& plan, Session& session) {
  for (const Problem& problem : problems) {
    session.diagnostics().error(
        std::nullopt,
        plan.label + ": " + problem.path + (problem.path.empty() ? "" : ": ") + problem.message, {},
        problem.help);
  }
}

// Simulates until something is wrong or Ctrl-C.
void run_plans(const std::vector<CompressionPlan>& plans, const PreparedExperiment& prepared,
               sim::SimOptions options, std::optional<TraceFile>& trace, SimulationReport& report,
               Session& session) {
  const sim::Platform platform(prepared.experiment().cluster, prepared.experiment().layout);
  for (const CompressionPlan& plan : plans) {
    const StepPlan step = prepared.plan(plan);
    if (const Problems problems = sim::check(step, platform, options); !problems.empty()) {
      report_problems(problems, plan, session);
      continue;
    }
    const bool traced = trace && &plan == &plans.back();
    options.trace = traced ? &trace->writer() : nullptr;
    PlanSimulation& result = report.plans.emplace_back();
    result.label = plan.label;
    result.analytical = prepared.predict(plan);
    result.simulated = sim::simulate(step, platform, options);
    result.simulated.prediction.memory = result.analytical.memory;
    if (result.simulated.problem) {
      report_problems({*result.simulated.problem}, plan, session);
    }
    if (result.simulated.interrupted) {
      return;
    }
  }
}

ExitCode run_simulate(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  sim::SimOptions options;
  if (const auto limit = integer_value(arguments, limit_option.name,
                                       {1, std::numeric_limits<int>::max()}, session)) {
    options.event_limit = static_cast<std::uint64_t>(*limit);
  }
  const std::optional<ReadExperiment> read = read_experiment_input(arguments, library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  const std::vector<CompressionPlan> plans = wanted_plans(read->experiment, arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  std::optional<TraceFile> trace;
  if (const auto file = arguments.value(trace_option.name)) {
    trace.emplace(file->text);
  }
  const InterruptGuard guard;
  options.stop = &InterruptGuard::flag();
  const PreparedExperiment prepared(read->experiment);
  SimulationReport report{read->experiment, {}};
  run_plans(plans, prepared, options, trace, report, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  if (trace) {
    trace->commit();
  }
  OutputFiles files;
  deliver({simulation_text(report), simulation_json(report, *read, library, session), ""},
          arguments, files, session);
  const ExitCode code = session.report();
  return report.plans.back().simulated.interrupted ? ExitCode::failure : code;
}

}  // namespace

Command simulate_command() {
  return {"simulate",
          "runs a training step by events: critical path, links, timeline",
          "payoff simulate examples/01-resnet50-v100/experiment.yaml --trace step.json\n"
          "  payoff simulate --model gpt3-175b --cluster selene --nodes 128 --tp 8 --pp 8 --dp 16 "
          "--micro-batch 1 --global-batch 1536",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({plan_option, trace_option, limit_option, json_option}),
          run_simulate};
}

}  // namespace payoff
