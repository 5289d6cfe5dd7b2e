// SPDX-License-Identifier: Apache-2.0
#include "study/compression_case.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/experiment_check.hpp"
#include "study/case_parts.hpp"
#include "study/engine.hpp"
#include "study/mapped_row.hpp"
#include "study/payoff.hpp"

namespace payoff {
namespace {

// What a node's link to servers carries over TCP: ps-lite has a socket a peer and one thread for
// all of them. Espresso's authors price every message of BytePS between nodes with it, on NICs of
// 25 and of 100 Gb/s alike (beta2 = 0.8 us a kB; zhuangwang93/Espresso at 89cc72b,
// byteps/torch/mergeComp/scheduler/simulator_espresso.py, get_comm_overhead()).
constexpr Bandwidth servers_over_sockets = 1.25_GBps;
// Two sockets of 24 cores, as servers of V100 had (Espresso's Xeon 8260; p3dn.24xlarge).
constexpr int cores_of_a_host = 48;

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

// A job with its baseline and the plans of which the fastest ran.
Comparison compare(const Experiment& experiment, const ValidationOptions& options,
                   ValidationCase& result) {
  AssessOptions assess_options;
  assess_options.search_remedy = false;
  assess_options.band = 0.0;  // the noise that counts is that of the measurement
  assess_options.draws = options.draws;
  assess_options.seed = options.seed;
  std::vector<PlanPayoff> plans = assess(experiment, assess_options).plans;
  const auto slower = [](const PlanPayoff& a, const PlanPayoff& b) {
    return a.against_uncompressed.speedup < b.against_uncompressed.speedup;
  };
  const bool chosen = plans.size() > 2;  // of several, or of none
  const PlanPayoff& fastest =
      *std::max_element(plans.begin() + (chosen ? 0 : 1), plans.end(), slower);
  if (result.rivals.empty()) {
    result.terms = terms_of(fastest.prediction.waterfall);
    result.subject = subject_of(experiment, experiment.plans[1]);
    const PreparedExperiment prepared(experiment);
    result.size = parameters_band(prepared);
    add_rivals(prepared, result);
  }
  return fastest.against_uncompressed;
}

// Adds the plans that are compared to the job of the row, and what hosts need for theirs.
void set_plans(Experiment& experiment, const RowPlan& row, std::size_t number) {
  if (!row.baselines.empty()) {
    experiment.plans.front() = row.baselines.at(number);
    if (experiment.cluster.network.kind == NetworkKind::tcp) {
      experiment.cluster.network.law.node_limit = servers_over_sockets;
    }
  }
  experiment.plans.push_back(number == 0 ? *row.plan : row.others.at(number - 1));
  experiment.plans.insert(experiment.plans.end(), row.choices.begin(), row.choices.end());
  experiment.cluster.host.cores = cores_of_a_host;
}

// The likely job with every plan, then its other values with the likely one.
std::vector<Experiment> jobs_of(MappedRow mapped, const RowPlan& plan) {
  std::vector<Experiment> jobs;
  for (std::size_t number = 0; number <= plan.others.size(); ++number) {
    jobs.push_back(*mapped.likely.experiment);
    set_plans(jobs.back(), plan, number);
  }
  for (Experiment& other : mapped.others) {
    set_plans(other, plan, 0);
    jobs.push_back(std::move(other));
  }
  return jobs;
}

void add_assumptions(const RowPlan& plan, ValidationCase& result) {
  std::vector<std::string>& all = result.assumptions;
  all.insert(all.end(), plan.assumptions.begin(), plan.assumptions.end());
  if (!plan.baselines.empty()) {
    all.emplace_back("servers over TCP carry 1.25 GB/s a node");
  }
  const auto on_host = [](const CompressionPlan& each) {
    return each.method && runs_on_host(*each.method);
  };
  if ((plan.plan && on_host(*plan.plan)) || !plan.baselines.empty() || !plan.choices.empty()) {
    all.push_back(std::to_string(cores_of_a_host) + " cores a node");
  }
}

// Of all that the run may have been: what is likely counts as much as all the others together.
double probability_of(const std::vector<Comparison>& comparisons) {
  const double likely = comparisons.front().probability;
  double others = 0;
  for (const Comparison& each : comparisons) {
    others += each.probability;
  }
  const auto count = static_cast<double>(comparisons.size()) - 1;
  return count > 0 ? (likely + (others - likely) / count) / 2 : likely;
}

}  // namespace

void predict_speedup(const TrainingRow& row, const RowCatalogue& catalogue, const RowPlan& plan,
                     const ValidationOptions& options, ValidationCase& result) {
  MappedRow mapped = map_row(row, catalogue);
  result.reasons = std::move(mapped.likely.reasons);
  result.reasons.insert(result.reasons.end(), plan.reasons.begin(), plan.reasons.end());
  result.assumptions = std::move(mapped.likely.assumptions);
  add_assumptions(plan, result);
  if (!mapped.likely.experiment || !plan.plan) {
    return;
  }
  std::vector<Comparison> comparisons;
  for (const Experiment& experiment : jobs_of(std::move(mapped), plan)) {
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
  for (const Comparison& each : comparisons) {
    result.low = std::min(result.low, each.speedup_low);
    result.high = std::max(result.high, each.speedup_high);
  }
  result.predicted_call = call_of_predicted(probability_of(comparisons));
}

}  // namespace payoff
