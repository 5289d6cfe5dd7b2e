// SPDX-License-Identifier: Apache-2.0
#include "study/validation_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "study/case_parts.hpp"
#include "study/compression_case.hpp"
#include "study/compute_calibration.hpp"
#include "study/engine.hpp"
#include "study/mapped_row.hpp"
#include "study/parallel.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

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

struct Interval {
  double low{};
  double high{};
};

// That of the machine's parameters, wider by what the mapping had to guess.
Interval step_interval(const PreparedExperiment& prepared, double guess_sd,
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
  result.terms = terms_of(prediction.waterfall);
  result.subject = subject_of(experiment, plan);
  result.size = parameters_band(prepared);
  for (const Engine engine : {Engine::agarwal2022, Engine::mgwfbp}) {
    if (const EngineAnswer answer = predict(engine, prepared, plan); answer.prediction) {
      result.rivals.push_back(
          {std::string(name(engine)), answer.prediction->step / 1_s, Call::none});
    }
  }
  const double guess_sd = assumption_sd(row.likely.assumptions);
  Interval interval = step_interval(prepared, guess_sd, options);
  for (const Experiment& other : row.others) {
    const Interval wider = step_interval(PreparedExperiment(other), guess_sd, options);
    interval = {std::min(interval.low, wider.low), std::max(interval.high, wider.high)};
  }
  result.low = interval.low;
  result.high = interval.high;
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
                       const TrainingMeasurement& printed = row.measured;
                       if (printed.speedup_vs_baseline || printed.speedup_printed) {
                         result.measured = printed.speedup_vs_baseline
                                               ? *printed.speedup_vs_baseline
                                               : *printed.speedup_printed;
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
