// SPDX-License-Identifier: Apache-2.0
#include "study/remedy.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "model/units_text.hpp"

namespace payoff {
namespace {

// A gain below this is not worth a change of the job.
constexpr double worthwhile = 1e-3;

Experiment changed(const Experiment& experiment, const Change& change) {
  Experiment result = experiment;
  result.plans.resize(1);
  Training& training = result.training;
  if (change.bucket > 0_B) {
    training.bucket = change.bucket;
    training.first_bucket = std::min(training.first_bucket, change.bucket);
  }
  if (change.sixteen_bit) {
    // The hook casts buckets that were filled at full width: as many elements, half the bytes.
    training.gradient = training.precision == Precision::bf16 ? Precision::bf16 : Precision::fp16;
    training.bucket /= 2.0;
    training.first_bucket /= 2.0;
  }
  training.overlap = training.overlap || change.overlap;
  result.layout.micro_batches *= change.accumulation;
  return result;
}

// Each way the cast reads one width and writes the other.
void add_casts(StepPlan& plan, const Gpu& gpu) {
  for (BucketKind& kind : plan.kinds) {
    const Bytes traffic = static_cast<double>(kind.elements) * (4_B + 2_B);
    const Seconds cast =
        gpu.law.launch + traffic / (gpu.memory_bandwidth * gpu.law.memory_efficiency);
    Work& encode = kind.rounds.front().encode;
    encode = {WorkKind::encode, encode.alone + cast, encode.bucket_copy};
    kind.decode = {WorkKind::decode, kind.decode.alone + cast, kind.decode.bucket_copy};
  }
}

std::string describe(const Change& change) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (change.sixteen_bit) {
    add("16-bit reduction");
  }
  if (change.bucket > 0_B) {
    add("buckets of " + exact_text(change.bucket));
  }
  if (change.accumulation > 1) {
    add(std::to_string(change.accumulation) + " x the micro-batches in a step");
  }
  if (change.overlap) {
    add("overlap with backward");
  }
  return text;
}

// Improves a variant by one kind of change at a time.
class Search {
 public:
  Search(const Experiment& experiment, const RemedyLimits& limits)
      : experiment_(experiment),
        limits_(limits),
        best_(uncompressed_variant(experiment, {})),
        must_fit_(best_.prediction.memory.fits()) {}

  Variant run() {
    if (experiment_.layout.dp == 1) {
      return std::move(best_);
    }
    if (!experiment_.training.overlap) {
      Change change = best_.change;
      change.overlap = true;
      consider(change);
    }
    if (limits_.change_gradient_precision && reduces_in_32_bits(experiment_)) {
      Change change = best_.change;
      change.sixteen_bit = true;
      consider(change);
    }
    try_accumulation();
    try_buckets();
    return std::move(best_);
  }

 private:
  void try_accumulation() {
    const double most = limits_.global_batch / experiment_.layout.global_batch();
    std::vector<int> factors;
    for (int factor = 2; factor <= most; factor *= 2) {
      factors.push_back(factor);
    }
    if (const int whole = static_cast<int>(std::min(most, 1e6)); whole > 2) {
      factors.push_back(whole);
    }
    for (const int factor : factors) {
      Change change = best_.change;
      change.accumulation = factor;
      consider(change);
    }
  }

  void try_buckets() {
    if (!limits_.change_buckets) {
      return;
    }
    for (Bytes bucket = 1_MiB; bucket <= 1_GiB; bucket *= 2.0) {
      Change change = best_.change;
      change.bucket = bucket;
      consider(change);
    }
  }

  void consider(const Change& change) {
    Variant variant = uncompressed_variant(experiment_, change);
    const bool fits = !must_fit_ || variant.prediction.memory.fits();
    if (fits && variant.step_per_batch() < best_.step_per_batch() * (1.0 - worthwhile)) {
      best_ = std::move(variant);
    }
  }

  const Experiment& experiment_;
  const RemedyLimits& limits_;
  Variant best_;
  bool must_fit_;
};

}  // namespace

bool reduces_in_32_bits(const Experiment& experiment) {
  return experiment.layout.dp > 1 && element_size(experiment.training.gradient) > 2_B;
}

Variant uncompressed_variant(const Experiment& experiment, const Change& change) {
  const PreparedExperiment prepared(changed(experiment, change));
  const CompressionPlan& none = experiment.plans.front();
  Variant variant{change, describe(change), prepared.plan(none), prepared.predict(none),
                  static_cast<double>(change.accumulation)};
  if (change.sixteen_bit) {
    add_casts(variant.plan, experiment.cluster.gpu);
    const Memory memory = variant.prediction.memory;
    variant.prediction = evaluate(variant.plan);
    variant.prediction.memory = memory;
  }
  return variant;
}

Variant best_remedy(const Experiment& experiment, const RemedyLimits& limits) {
  return Search(experiment, limits).run();
}

}  // namespace payoff
