// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_option.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/simulation_problems.hpp"
#include "cli/table.hpp"

namespace payoff {

std::vector<Engine> read_engines(const Arguments& arguments, Session& session) {
  std::vector<std::string> known;
  known.reserve(std::size(all_engines));
  for (const Engine engine : all_engines) {  // as they are typed: without "-reconstructed"
    known.emplace_back(name(engine).substr(0, name(engine).find('-')));
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

std::vector<EngineAnswers> ask_engines(const std::vector<Engine>& engines,
                                       const PreparedExperiment& prepared,
                                       const ClusterState& state) {
  std::vector<EngineAnswers> all;
  for (const Engine engine : engines) {
    EngineAnswers& answers = all.emplace_back(EngineAnswers{engine, {}});
    for (const CompressionPlan& plan : prepared.experiment().plans) {
      answers.plans.push_back(predict(engine, prepared, plan, state));
    }
  }
  return all;
}

void report_engine_problems(const std::vector<EngineAnswers>& answers,
                            const PreparedExperiment& prepared, const PositionMap& positions,
                            Session& session) {
  const std::vector<CompressionPlan>& plans = prepared.experiment().plans;
  for (const EngineAnswers& engine : answers) {
    StrategyProblems problems;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      problems.emplace_back(plans[i].label, engine.plans[i].problems);
    }
    report_problems(problems, positions, session);
  }
}

void warn_of_unseen_state(const ClusterState& state, const std::vector<Engine>& engines,
                          Session& session) {
  const bool asked = std::find(engines.begin(), engines.end(), Engine::simulated) != engines.end();
  if (!state.is_even() && !asked) {
    session.diagnostics().warning(
        std::nullopt, "the topology, slow GPUs and jitter of the cluster are not in these figures",
        {}, "the simulator sees them: --engine sim, or payoff simulate");
  }
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
