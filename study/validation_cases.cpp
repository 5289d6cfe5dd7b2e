// SPDX-License-Identifier: Apache-2.0
#include "study/validation_cases.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "study/compute_calibration.hpp"
#include "study/difference.hpp"
#include "study/engine.hpp"
#include "study/mapped_row.hpp"
#include "study/parallel.hpp"
#include "study/payoff.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

Band parameters_band(const PreparedExperiment& prepared) {
  const std::int64_t parameters =
      prepared.workload().parameters() * prepared.experiment().layout.tp;
  const auto millions = static_cast<double>(parameters) * 1e-6;
  return millions < 100    ? Band{0, "below 100 M parameters"}
         : millions < 1000 ? Band{1, "100 M to 1 G parameters"}
         : millions < 1e4  ? Band{2, "1 G to 10 G parameters"}
                           : Band{3, "from 10 G parameters"};
}

ValidationCase case_of(const TrainingRow& row, const Split& split, CaseKind kind) {
  ValidationCase result;
  result.id = row.id;
  result.source = row.source;
  result.system = split_system(row.cluster);
  result.kind = kind;
  result.half = split.half(row);
  result.unit.assign(1, kind == CaseKind::step ? 's' : '1');
  result.size = {9, "size not known"};
  result.scale = row.cluster.gpus ? scale_band(*row.cluster.gpus, row.cluster.nodes.value_or(1))
                                  : Band{9, "scale not known"};
  return result;
}

std::vector<std::pair<std::string, double>> named_terms(const Waterfall& w) {
  std::vector<std::pair<std::string, double>> terms;
  for (const auto& [term, time] : step_terms) {
    if (w.*time > 0_s) {
      std::string words(term == "bucket_copy" ? "bucket_copies" : term);
      std::replace(words.begin(), words.end(), '_', ' ');
      terms.emplace_back(std::move(words), w.*time / 1_s);
    }
  }
  return terms;
}

CaseSubject subject_of(const Experiment& experiment, const CompressionPlan& plan) {
  const Cluster& cluster = experiment.cluster;
  CaseSubject subject;
  subject.gpu = cluster.gpu.name;
  subject.fabric = cluster.gpus_per_node > 1 ? cluster.fabric.name : "";
  subject.network = cluster.nodes > 1 ? cluster.network.name : "";
  subject.software = experiment.software.name;
  subject.method = plan.method ? plan.method->name : "";
  subject.gpus = cluster.gpus();
  subject.nodes = cluster.nodes;
  return subject;
}

struct StepInterval {
  double low{};
  double high{};
};

// That of the machine's parameters, wider by what the mapping had to guess.
StepInterval step_interval(const PreparedExperiment& prepared, double guess_sd,
                           const ValidationOptions& options) {
  const Experiment& experiment = prepared.experiment();
  Ensemble ensemble({{prepared.plan(experiment.plans.front())}}, compute_sd(experiment));
  std::vector<double> steps;
  for (const Draw& draw : make_draws(options.draws, options.seed, 2)) {
    steps.push_back(ensemble.step(0, draw) / 1_s * std::exp(guess_sd * draw.codecs[1]));
  }
  return {quantile(steps, 0.05), quantile(steps, 0.95)};
}

void predict_step(const MappedRow& row, const ValidationOptions& options, ValidationCase& result) {
  const Experiment& experiment = *row.likely.experiment;
  const PreparedExperiment prepared(experiment);
  const CompressionPlan& plan = experiment.plans.front();
  const StepPrediction prediction = prepared.predict(plan);
  result.predicted = prediction.step / 1_s;
  result.terms = named_terms(prediction.waterfall);
  result.subject = subject_of(experiment, plan);
  result.size = parameters_band(prepared);
  for (const Engine engine : {Engine::agarwal2022, Engine::mgwfbp}) {
    if (const EngineAnswer answer = predict(engine, prepared, plan); answer.prediction) {
      result.rivals.push_back(
          {std::string(name(engine)), answer.prediction->step / 1_s, Call::none});
    }
  }
  const double guess_sd = assumption_sd(row.likely.assumptions);
  StepInterval interval = step_interval(prepared, guess_sd, options);
  for (const Experiment& other : row.others) {
    const StepInterval wider = step_interval(PreparedExperiment(other), guess_sd, options);
    interval = {std::min(interval.low, wider.low), std::max(interval.high, wider.high)};
  }
  result.low = interval.low;
  result.high = interval.high;
}

Call call_of_speedup(double speedup) { return speedup > 1.0 ? Call::pays : Call::does_not; }

// Of the traffic that the plan compresses: of data parallelism, or of the other ranks.
Bytes compressed_bytes(const StepPrediction& step, const CompressionPlan& plan) {
  return plan.activations.empty() ? step.dp_bytes : step.tp_bytes + step.pp_bytes;
}

// What needs no model, and what the paper's model says.
void add_rivals(const PreparedExperiment& prepared, ValidationCase& result) {
  const std::vector<CompressionPlan>& plans = prepared.experiment().plans;
  result.rivals.push_back({"always no", 1.0, Call::does_not});
  const double wire_ratio = compressed_bytes(prepared.predict(plans[0]), plans[1]) /
                            std::max(compressed_bytes(prepared.predict(plans[1]), plans[1]), 1_B);
  result.rivals.push_back({"wire ratio only", wire_ratio, call_of_speedup(wire_ratio)});
  const EngineAnswer baseline = predict(Engine::agarwal2022, prepared, plans[0]);
  const EngineAnswer compressed = predict(Engine::agarwal2022, prepared, plans[1]);
  if (baseline.prediction && compressed.prediction) {
    const double speedup = baseline.prediction->step / compressed.prediction->step;
    result.rivals.push_back(
        {std::string(name(Engine::agarwal2022)), speedup, call_of_speedup(speedup)});
  }
}

Comparison compare(const Experiment& experiment, const ValidationOptions& options,
                   ValidationCase& result) {
  AssessOptions assess_options;
  assess_options.search_remedy = false;
  assess_options.band = 0.0;  // the noise that counts is that of the measurement
  assess_options.draws = options.draws;
  assess_options.seed = options.seed;
  const PlanPayoff assessed = assess(experiment, assess_options).plans[1];
  if (result.rivals.empty()) {
    result.terms = named_terms(assessed.prediction.waterfall);
    result.subject = subject_of(experiment, experiment.plans[1]);
    const PreparedExperiment prepared(experiment);
    result.size = parameters_band(prepared);
    add_rivals(prepared, result);
  }
  return assessed.against_uncompressed;
}

// One comparison, or one for each value of what the row does not state.
void predict_speedup(const TrainingRow& row, const RowCatalogue& catalogue, const RowPlan& plan,
                     const ValidationOptions& options, ValidationCase& result) {
  MappedRow mapped = map_row(row, catalogue);
  result.reasons = std::move(mapped.likely.reasons);
  result.reasons.insert(result.reasons.end(), plan.reasons.begin(), plan.reasons.end());
  result.assumptions = std::move(mapped.likely.assumptions);
  result.assumptions.insert(result.assumptions.end(), plan.assumptions.begin(),
                            plan.assumptions.end());
  if (!mapped.likely.experiment || !plan.plan) {
    return;
  }
  std::vector<Experiment> experiments{std::move(*mapped.likely.experiment)};
  for (const CompressionPlan& other : plan.others) {
    experiments.push_back(experiments.front());
    experiments.back().plans.push_back(other);
  }
  std::move(mapped.others.begin(), mapped.others.end(), std::back_inserter(experiments));
  std::vector<Comparison> comparisons;
  for (Experiment& experiment : experiments) {
    if (experiment.plans.size() == 1) {
      experiment.plans.push_back(*plan.plan);
    }
    const Problems problems = check(experiment);
    if (!problems.empty() && !comparisons.empty()) {
      continue;  // one of the others, which such a run cannot have had
    }
    for (const Problem& problem : problems) {
      result.reasons.push_back(problem.path + ": " + problem.message);
    }
    if (!result.reasons.empty()) {
      return;
    }
    comparisons.push_back(compare(experiment, options, result));
  }
  result.predicted = comparisons.front().speedup;
  result.low = comparisons.front().speedup_low;
  result.high = comparisons.front().speedup_high;
  double probability = 0;
  for (const Comparison& each : comparisons) {
    result.low = std::min(result.low, each.speedup_low);
    result.high = std::max(result.high, each.speedup_high);
    probability += each.probability / static_cast<double>(comparisons.size());
  }
  result.predicted_call = call_of_predicted(probability);
}

// Rows in parallel, each into its place.
template <typename Predict>
std::vector<ValidationCase> predict_all(const std::vector<const TrainingRow*>& rows,
                                        const Split& split, CaseKind kind,
                                        const ValidationOptions& options, const Predict& predict) {
  std::vector<ValidationCase> cases(rows.size());
  for_each_index(
      rows.size(),
      [&](std::size_t i) {
        cases[i] = case_of(*rows[i], split, kind);
        predict(*rows[i], cases[i]);
      },
      options.threads);
  return cases;
}

}  // namespace

std::vector<ValidationCase> step_cases(const std::vector<TrainingRow>& rows, const Split& split,
                                       const RowCatalogue& catalogue,
                                       const ValidationOptions& options) {
  // Of baselines of compressed runs a throughput is enough: these are compared by their ratio.
  std::set<std::string> baselines;
  for (const TrainingRow& row : rows) {
    if (row.compressed() && row.baseline_id) {
      baselines.insert(*row.baseline_id);
    }
  }
  std::vector<const TrainingRow*> measured;
  for (const TrainingRow& row : rows) {
    if (!row.compressed() && (row.measured.step || !baselines.contains(row.id))) {
      measured.push_back(&row);
    }
  }
  return predict_all(measured, split, CaseKind::step, options,
                     [&](const TrainingRow& row, ValidationCase& result) {
                       if (row.measured.step) {
                         result.measured = *row.measured.step / 1_s;
                       }
                       const MappedRow mapped = map_row(row, catalogue);
                       result.reasons = mapped.likely.reasons;
                       result.assumptions = mapped.likely.assumptions;
                       if (mapped.likely.experiment) {
                         predict_step(mapped, options, result);
                       }
                     });
}

std::vector<ValidationCase> compression_cases(const std::vector<TrainingRow>& rows,
                                              const Split& split, const RowCatalogue& catalogue,
                                              const MethodCatalogue& methods,
                                              const ValidationOptions& options) {
  std::vector<const TrainingRow*> measured;
  for (const TrainingRow& row : rows) {
    if (row.compressed()) {
      measured.push_back(&row);
    }
  }
  return predict_all(measured, split, CaseKind::compression, options,
                     [&](const TrainingRow& row, ValidationCase& result) {
                       RowPlan plan = row_plan(row, methods);
                       if (row.measured.speedup_vs_baseline) {
                         result.measured = *row.measured.speedup_vs_baseline;
                         result.measured_call = call_of_measured(*result.measured);
                       } else {
                         plan.reasons.emplace_back("no speedup over a run without compression");
                         plan.plan.reset();
                       }
                       predict_speedup(row, catalogue, plan, options, result);
                     });
}

Band scale_band(int gpus, int nodes) {
  return gpus <= 1      ? Band{0, "1 GPU"}
         : nodes <= 1   ? Band{1, "1 node"}
         : nodes == 2   ? Band{2, "2 nodes"}
         : nodes <= 16  ? Band{3, "3 to 16 nodes"}
         : nodes <= 128 ? Band{4, "17 to 128 nodes"}
                        : Band{5, "from 129 nodes"};
}

}  // namespace payoff
