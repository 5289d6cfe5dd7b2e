// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_job.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/priced_uses.hpp"
#include "cli/step_json.hpp"
#include "cli/sweep_folding.hpp"
#include "model/experiment.hpp"
#include "profiles/override.hpp"
#include "study/payoff.hpp"
#include "study/simulation.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

void add_step(const StepPrediction& prediction, const Experiment& experiment, Json& row) {
  row["step_seconds"] = prediction.step.si;
  row["samples_per_second"] = experiment.layout.global_batch() / prediction.step.si;
  Json step = step_json(prediction);
  row.update(step["waterfall"]);
  for (const auto& [key, value] : step.items()) {
    if (value.is_number()) {
      row[key] = value;
    }
  }
  row["memory_bytes"] = prediction.memory.total().si;
}

void add_comparison(const PlanPayoff& plan, bool compresses, Json& row) {
  const Comparison& other = plan.against_remedy;
  row["step_low_seconds"] = plan.step_low.si;
  row["step_high_seconds"] = plan.step_high.si;
  row["speedup_low"] = plan.against_uncompressed.speedup_low;
  row["speedup_high"] = plan.against_uncompressed.speedup_high;
  row["speedup_against_remedy"] = other.speedup;
  row["probability"] = other.probability;
  row["verdict"] = compresses ? Json(name(Payoff::verdict_of(plan))) : Json(nullptr);
}

// The strategies of a job that can be read, by label.
class JobRows {
 public:
  JobRows(const SweepQuestion& question, const ReadExperiment& read, Json begin)
      : question_(question), read_(read), begin_(std::move(begin)), prepared_(read.experiment) {
    begin_["gpus"] = read.experiment.layout.ranks();
    if (question.verdicts) {
      AssessOptions options;
      options.limits = read.limits;
      payoff_ = assess(read.experiment, options);
    }
  }

  [[nodiscard]] Json row(const std::string& label) {
    const std::vector<CompressionPlan>& plans = read_.experiment.plans;
    const auto plan = std::find_if(plans.begin(), plans.end(), [&](const CompressionPlan& other) {
      return other.label == label;
    });
    Json row = begin_;
    row["strategy"] = label;
    if (plan == plans.end()) {
      row["status"] = "impossible";
      row["reason"] = "the strategy has another name in this job";
      return row;
    }
    const EngineAnswer answer = ask(*plan);
    if (question_.engine == Engine::simulated) {
      const std::string why = why_not_folded(*plan);
      row["not_folded"] = why.empty() ? Json(nullptr) : Json(why);
    }
    if (!answer.prediction) {
      row["status"] = "impossible";
      row["reason"] = answer.problems.empty() ? answer.reason : answer.problems.front().message;
      return row;
    }
    const StepPrediction& prediction = *answer.prediction;
    row["status"] = prediction.memory.fits() ? "fits" : "does not fit";
    row["reason"] = nullptr;
    add_step(prediction, read_.experiment, row);
    if (!uncompressed_) {
      uncompressed_ = plan == plans.begin() ? answer : ask(plans.front());
    }
    row["speedup"] = uncompressed_->prediction
                         ? Json(uncompressed_->prediction->step / prediction.step)
                         : Json(nullptr);
    if (payoff_) {
      const auto place = static_cast<std::size_t>(plan - plans.begin());
      add_comparison(payoff_->plans[place], place > 0, row);
    }
    add_extrapolated(uses_of_plan(prepared_, *plan).extrapolated(), row);
    return row;
  }

 private:
  [[nodiscard]] EngineAnswer ask(const CompressionPlan& plan) const {
    return question_.engine == Engine::simulated
               ? Simulation(prepared_, read_.cluster_state, question_.simulation).answer(plan)
               : predict(question_.engine, prepared_, plan, read_.cluster_state);
  }

  [[nodiscard]] std::string why_not_folded(const CompressionPlan& plan) const {
    return payoff::why_not_folded(
        Simulation(prepared_, read_.cluster_state, question_.simulation).fold(plan), read_);
  }

  const SweepQuestion& question_;
  const ReadExperiment& read_;
  Json begin_;
  PreparedExperiment prepared_;
  std::optional<Payoff> payoff_;
  std::optional<EngineAnswer> uncompressed_;
};

struct Reading {
  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<ReadExperiment> read;

  Reading(const SweepQuestion& question, const std::vector<std::size_t>& values)
      : sources(question.sources), read(read_job(question, values, sources, diagnostics)) {}
};

Json impossible(Json row, const std::string& strategy, const Diagnostics& diagnostics) {
  row["strategy"] = strategy;
  row["status"] = "impossible";
  row["reason"] = first_error(diagnostics);
  return row;
}

// Where the job cannot be read, it may be for the sake of one strategy: each is read alone.
std::vector<Json> rows_one_by_one(const SweepQuestion& question,
                                  const std::vector<std::size_t>& values, const Json& begin) {
  std::vector<Json> rows;
  for (std::size_t i = 0; i < question.strategies.size(); ++i) {
    const SweepQuestion alone = about_one_strategy(question, i);
    const Reading one(alone, values);
    rows.push_back(one.read ? JobRows(alone, *one.read, begin).row(question.strategies[i])
                            : impossible(begin, question.strategies[i], one.diagnostics));
  }
  return rows;
}

// A value as it was written is read as --set reads it, lists and quotes as YAML; one of a series is
// nowhere written.
std::optional<Node> axis_node(const std::string& text, Span place, const SourceMap& sources,
                              Diagnostics& diagnostics) {
  if (sources.is_argument(place) && sources.text(place) == text) {
    return value_node(place, sources, diagnostics);
  }
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = text;
  node.span = place;
  return node;
}

}  // namespace

nlohmann::ordered_json axes_json(const SweepQuestion& question, std::uint64_t number,
                                 const std::vector<std::size_t>& values) {
  Json json{{"job", number}};
  for (std::size_t a = 0; a < values.size(); ++a) {
    const AxisColumn& column = question.input.columns[a];
    if (column.numbers.empty()) {
      json[column.name] = question.design.axes()[a].values[values[a]];
    } else if (column.whole) {
      json[column.name] = static_cast<std::int64_t>(column.numbers[values[a]]);
    } else {
      json[column.name] = column.numbers[values[a]];
    }
  }
  return json;
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    if (diagnostic.severity == Severity::error) {
      return diagnostic.message;
    }
  }
  return "the job cannot be read";
}

SweepQuestion about_one_strategy(const SweepQuestion& question, std::size_t place) {
  SweepQuestion alone = question;
  if (Entry* list = alone.document.root.find("compress")) {
    std::vector<Node> plans = std::move(list->value.items);
    list->value.items.clear();
    if (place > 0) {
      list->value.items.push_back(std::move(plans.at(place - 1)));
    }
  }
  return alone;
}

std::optional<ReadExperiment> read_job(const SweepQuestion& question,
                                       const std::vector<std::size_t>& values, SourceMap& sources,
                                       Diagnostics& diagnostics) {
  Document document = question.document;
  for (std::size_t a = 0; a < values.size(); ++a) {
    const SweepAxis& axis = question.design.axes()[a];
    const AxisPlace& place = question.input.places[a];
    if (auto value =
            axis_node(axis.values[values[a]], place.value(values[a]), sources, diagnostics)) {
      (void)set_value(document.root, axis.key, std::move(*value), place.key, diagnostics);
    }
  }
  return read_experiment(std::move(document), {}, {question.library, sources, diagnostics});
}

std::string job_lines(const SweepQuestion& question, std::uint64_t number) {
  const std::vector<std::size_t> values = question.design.job(number);
  const Json begin = axes_json(question, number, values);
  std::vector<Json> rows;
  if (const Reading all(question, values); all.read) {
    JobRows job(question, *all.read, begin);
    for (const std::string& strategy : question.strategies) {
      rows.push_back(job.row(strategy));
    }
  } else {
    rows = rows_one_by_one(question, values, begin);
  }
  std::string lines;
  for (const Json& row : rows) {
    lines += row.dump() + "\n";
  }
  return lines;
}

}  // namespace payoff
