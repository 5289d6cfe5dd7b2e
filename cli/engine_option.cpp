// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_option.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/simulation_cost.hpp"
#include "cli/simulation_problems.hpp"
#include "cli/table.hpp"
#include "sim/not_folded.hpp"
#include "study/simulation.hpp"

namespace payoff {

std::vector<Engine> read_engines(const Arguments& arguments, Session& session) {
  std::vector<std::string> known;
  known.reserve(std::size(all_engines));
  for (const Engine engine : all_engines) {
    known.emplace_back(typed_name(engine));
  }
  std::vector<Engine> engines;
  for (const Argument& asked : arguments.values(engine_option.name)) {
    const std::optional<Engine> engine = find_engine(asked.text);
    if (!engine) {
      report_unknown_name("an engine", asked, known, session);
    } else if (*engine != Engine::analytical) {
      engines.push_back(*engine);
    }
  }
  return engines;
}

namespace {

// What all strategies will cost together; nothing runs if one of them is refused.
bool may_run(Simulation& simulation, const std::vector<CompressionPlan>& plans,
             const ReadExperiment& read, Session& session) {
  const ParallelLayout& layout = read.experiment.layout;
  sim::Estimate all;
  std::string folding;
  StrategyProblems problems;
  bool refused = false;
  for (const CompressionPlan& plan : plans) {
    Simulation::Outlook outlook = simulation.outlook(plan);
    all = together(all, outlook.estimate);
    if (std::string little = sim::how_little_folds(outlook.fold, read.cluster_state, layout, {});
        !little.empty()) {
      folding = std::move(little);
    }
    refused = refused || !outlook.problems.empty();
    problems.emplace_back(plan.label, std::move(outlook.problems));
  }
  report_problems(problems, read.positions, session);
  all.trace = 0_B;  // none is written
  if (!refused) {
    announce_long_run(all, "", folding, session);
  }
  return !refused;
}

void report_engine_problems(const EngineAnswers& answers, const std::vector<CompressionPlan>& plans,
                            const PositionMap& positions, Session& session) {
  StrategyProblems problems;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    problems.emplace_back(plans[i].label, answers.plans[i].problems);
    if (answers.engine == Engine::simulated && !answers.plans[i].problems.empty()) {
      session.started();
    }
  }
  report_problems(problems, positions, session);
}

}  // namespace

std::vector<EngineAnswers> ask_engines(const std::vector<Engine>& engines,
                                       const PreparedExperiment& prepared,
                                       const ReadExperiment& read, const sim::SimOptions& options,
                                       Session& session) {
  const std::vector<CompressionPlan>& plans = prepared.experiment().plans;
  Simulation simulation(prepared, read.cluster_state, options);
  std::vector<EngineAnswers> all;
  for (const Engine engine : engines) {
    const bool simulates = engine == Engine::simulated;
    if (simulates && !may_run(simulation, plans, read, session)) {
      continue;
    }
    EngineAnswers& answers = all.emplace_back(EngineAnswers{engine, {}});
    for (const CompressionPlan& plan : plans) {
      answers.plans.push_back(simulates ? simulation.answer(plan)
                                        : predict(engine, prepared, plan, read.cluster_state));
    }
    report_engine_problems(answers, plans, read.positions, session);
  }
  return all;
}

void warn_of_unseen_state(const ClusterState& state, const std::vector<Engine>& engines,
                          Session& session) {
  const bool asked = std::find(engines.begin(), engines.end(), Engine::simulated) != engines.end();
  if (state.is_even()) {
    return;
  }
  session.diagnostics().warning(
      std::nullopt, "the topology, slow GPUs and jitter of the cluster are not in these figures",
      {},
      asked ? "the table of the simulator sees them; intervals, break-evens and verdict do not"
            : "the simulator sees them: payoff simulate, or payoff predict --engine sim");
}

std::string engines_text(const std::vector<EngineAnswers>& answers,
                         const PreparedExperiment& prepared) {
  const std::vector<CompressionPlan>& plans = prepared.experiment().plans;
  const auto ms = [](Seconds time) { return fixed(time / 1_ms, 1); };
  std::string text;
  for (const EngineAnswers& engine : answers) {
    Table table({{std::string(name(engine.engine)), Align::left},
                 {"step [ms]", Align::right},
                 {"speedup", Align::right},
                 {"ours [ms]", Align::right},
                 {"ours", Align::right},
                 {"", Align::left}});
    const Seconds our_baseline = prepared.predict(plans.front()).step;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Seconds ours = prepared.predict(plans[i]).step;
      const EngineAnswer& answer = engine.plans[i];
      const auto& baseline = engine.plans.front().prediction;
      const bool comparable = answer.prediction && baseline;
      table.add({i == 0 ? "uncompressed" : plans[i].label,
                 answer.prediction ? ms(answer.prediction->step) : "",
                 comparable ? fixed(baseline->step / answer.prediction->step, 2) : "", ms(ours),
                 fixed(our_baseline / ours, 2), answer.reason});
    }
    text += "\n" + table.markdown() + "\n" + std::string(citation(engine.engine)) + "\n";
  }
  return text;
}

}  // namespace payoff
