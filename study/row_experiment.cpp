// SPDX-License-Identifier: Apache-2.0
#include "study/row_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrate/compute_priors.hpp"
#include "model/compute.hpp"
#include "model/units_text.hpp"
#include "study/row_parts.hpp"

namespace payoff {
namespace {

// DeepLearningExamples of 2022 sort sequences by length (LDDL, "binned pretraining for phase2",
// change log of PyTorch/LanguageModeling/BERT): most are far shorter than the 512 that is printed.
bool sorts_by_length(const TrainingRow& row) {
  return row.source == "dle_bert" && row.id.starts_with("dle_bert_2022") && row.model.seq == 512;
}

// The single-node times of vTrain are exactly linear in layers and micro-batches (to 2e-5, in every
// class of equal hidden size, tp and micro-batch): the output of a simulator, not measured steps.
bool is_computed(const TrainingRow& row) { return row.source == "vtrain_single"; }

// A run that is not a measured training step of the whole model with one optimiser update.
void refuse_what_is_not_a_step(const TrainingRow& row, RowExperiment& result) {
  if (!row.measured.step && !row.compressed()) {
    result.reasons.emplace_back("no step time");
  }
  if (is_computed(row)) {
    result.reasons.emplace_back("computed by a simulator, not measured");
  }
  if (row.source == "mlperf_nvidia" && row.model.family == "bert") {
    result.reasons.emplace_back("padding left out (--unpad): effective length not stated");
  }
  if (sorts_by_length(row)) {
    result.reasons.emplace_back("sequences sorted by length: effective length not stated");
  }
  for (const std::string& condition : row.conditions) {
    if (condition == "one-layer") {
      result.reasons.emplace_back("one layer, not a step");
    }
    if (condition == "inconsistent-table" || condition == "inconsistent-throughput") {
      result.reasons.emplace_back("the source contradicts itself");
    }
    if (condition == "packed-input") {
      result.reasons.emplace_back("packed input: several sequences in one row of a micro-batch");
    }
  }
}

// Multiply-adds of forward and backward alone, whatever is recomputed, cannot exceed the peak of
// the data sheet: a step that implies it belongs to another configuration.
void refuse_above_peak(const Experiment& experiment, const Gpu& sheet, Seconds step,
                       RowExperiment& result) {
  const auto workload = undivided(experiment.model, 2_B);
  Flops sample{};
  for (const Layer& layer : workload->layers) {
    for (const Operator& op : layer.forward) {
      // A causal kernel may skip half of the scores.
      sample += (op.kind == OperatorKind::attention ? op.causal_fraction : 1) * forward_flops(op);
    }
  }
  const FlopRate rate =
      3 * experiment.layout.global_batch() * sample / step / experiment.cluster.gpus();
  const bool winograd =
      experiment.training.precision == Precision::fp32 && table_of(experiment.model) != nullptr;
  if (!winograd && rate > sheet.peak[experiment.training.precision]) {
    std::string reason = "implies ";
    reason += std::to_string(std::lround(rate / 1_TFLOPps));
    reason += " TFLOP/s a GPU, above its peak";
    result.reasons.push_back(std::move(reason));
  }
}

// MG-WFBP merges the gradients of layers so that its step is shortest (Shi, Chu, Li 2019). Buckets
// of one size come near that at the best of sizes; the method's own choice is not uniform, and is
// made by a line through two times of all-reduce.
void merge_gradients(Experiment& experiment, RowExperiment& result) {
  constexpr Bytes smallest = 0.25_MiB;
  constexpr Bytes largest = 2_GiB;
  Seconds shortest;
  Bytes best;
  for (Bytes bucket = smallest; bucket <= largest; bucket *= 2.0) {
    Experiment merged = experiment;
    merged.training.bucket = bucket;
    merged.training.first_bucket = bucket;
    const PreparedExperiment prepared(merged);
    const Seconds step = prepared.predict(merged.plans.front()).step;
    if (best == Bytes{} || step < shortest) {
      shortest = step;
      best = bucket;
    }
  }
  experiment.training.bucket = best;
  experiment.training.first_bucket = best;
  result.assumptions.push_back("merged as buckets of " + number_text(best / 1_MiB) +
                               " MiB, the best of powers of two");
}

}  // namespace

RowExperiment row_experiment(const TrainingRow& row, const RowCatalogue& catalogue,
                             PeakCheck check_peak) {
  RowExperiment result;
  refuse_what_is_not_a_step(row, result);
  const RowReader reader(row, catalogue, result);
  Experiment experiment;
  experiment.name = row.id;
  result.stack = reader.stack();
  const auto software = catalogue.software.find(result.stack);
  if (software == catalogue.software.end()) {
    result.reasons.push_back("no software profile " + result.stack);
  } else {
    experiment.software = software->second;
    const bool guessed = std::any_of(
        result.assumptions.begin(), result.assumptions.end(),
        [](const std::string& assumption) { return assumption.starts_with("software as "); });
    if (guessed) {  // by as much as stacks without any measured step
      experiment.software.relative_sd = std::max(experiment.software.relative_sd, unknown_stack_sd);
    }
  }
  experiment.cluster = reader.cluster();
  experiment.layout = reader.layout();
  experiment.training = reader.training(result.stack, experiment.layout);
  experiment.model = reader.model(experiment.training);
  experiment.plans.emplace_back().label = "none";
  if (!result.reasons.empty()) {
    return result;
  }
  for (const Problem& problem : check(experiment)) {
    result.reasons.push_back(problem.path + ": " + problem.message);
  }
  // Without a limit on power, which the mapping prices by an assumption.
  const auto sheet = catalogue.gpus.find(experiment.cluster.gpu.name);
  if (result.reasons.empty() && row.measured.step && check_peak == PeakCheck::measured_step &&
      sheet != catalogue.gpus.end()) {
    refuse_above_peak(experiment, sheet->second, *row.measured.step, result);
  }
  if (result.reasons.empty()) {
    if (row.layout.schedule == "mg-wfbp" && experiment.training.overlap) {
      merge_gradients(experiment, result);
    }
    result.experiment = std::move(experiment);
  }
  return result;
}

}  // namespace payoff
