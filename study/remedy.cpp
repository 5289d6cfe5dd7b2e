// SPDX-License-Identifier: Apache-2.0
#include "study/remedy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/compute.hpp"
#include "model/units_text.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

// A gain below this is not worth a change of the job.
constexpr double worthwhile = 1e-3;

Training changed(Training training, const Change& change) {
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
  return training;
}

// Each way the cast reads one width and writes the other.
void add_casts(const PreparedExperiment& job, StepPlan& plan) {
  for (std::size_t k = 0; k < plan.kinds.size(); ++k) {
    BucketKind& kind = plan.kinds[k];
    const Bytes traffic = static_cast<double>(kind.elements) * (4_B + 2_B);
    const Seconds cast = streaming_time(traffic, job.gpu_of_kind(plan, k));
    Work& encode = kind.rounds.front().encode;
    encode = {WorkKind::encode, encode.alone + cast, encode.bucket_copy};
    const Seconds update = kind.decode.update;
    kind.decode = {WorkKind::decode, kind.decode.alone + cast, kind.decode.bucket_copy};
    kind.decode.update = update;
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
  if (change.algorithm != Algorithm::none) {
    add("NCCL_ALGO=" + std::string(name(change.algorithm)));
  }
  return text;
}

// As given first, then doublings.
std::vector<Bytes> bucket_choices(const Training& training, const RemedyLimits& limits) {
  std::vector<Bytes> choices{0_B};
  if (limits.change_buckets) {
    for (Bytes bucket = 1_MiB; bucket <= 1_GiB; bucket *= 2.0) {
      if (bucket != training.bucket) {
        choices.push_back(bucket);
      }
    }
  }
  return choices;
}

std::vector<bool> with_and_without(bool possible) {
  return possible ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

}  // namespace

bool reduces_in_32_bits(const Experiment& experiment) {
  return experiment.layout.data_ranks() > 1 && element_size(experiment.training.gradient) > 2_B;
}

Variant uncompressed_variant(const Experiment& experiment, const Change& change) {
  return uncompressed_variant(PreparedExperiment(experiment), change);
}

Variant uncompressed_variant(const PreparedExperiment& job, const Change& change) {
  const Experiment& experiment = job.experiment();
  const PreparedExperiment prepared(job, changed(experiment.training, change),
                                    experiment.layout.micro_batches * change.accumulation,
                                    NcclPin{change.algorithm, Protocol::none});
  StepPlan plan = prepared.plan(experiment.plans.front());
  if (change.sixteen_bit) {
    add_casts(prepared, plan);
  }
  const StepPrediction prediction = prepared.predict(plan);
  return {change, describe(change), std::move(plan), prediction,
          static_cast<double>(change.accumulation)};
}

std::vector<Change> candidate_changes(const Experiment& experiment, const RemedyLimits& limits) {
  if (experiment.layout.data_ranks() == 1) {
    return {Change{}};
  }
  std::vector<int> accumulations{1};
  // A pipeline is computed operation by operation; beyond so many, more change nothing.
  const double most_micro_batches = experiment.layout.pp > 1 ? 4096.0 : 1e6;
  const double most = std::min(limits.global_batch / experiment.layout.global_batch(),
                               most_micro_batches / experiment.layout.micro_batches);
  if (most >= 2.0) {
    accumulations.push_back(static_cast<int>(most));
  }
  const bool can_cast = limits.change_gradient_precision && reduces_in_32_bits(experiment);
  std::vector<Change> changes;
  for (const int accumulation : accumulations) {
    for (const bool overlap : with_and_without(!experiment.training.overlap)) {
      for (const bool sixteen_bit : with_and_without(can_cast)) {
        for (const Bytes bucket : bucket_choices(experiment.training, limits)) {
          changes.push_back({sixteen_bit, bucket, accumulation, overlap, Algorithm::none});
        }
      }
    }
  }
  return changes;
}

Variant best_remedy(const Experiment& experiment, const RemedyLimits& limits, const Latents& mean) {
  return best_remedy(PreparedExperiment(experiment), limits, mean);
}

std::vector<Algorithm> better_algorithms(const PreparedExperiment& job, const StepPlan& plan) {
  if (job.experiment().layout.tp > 1 || job.experiment().layout.cp > 1 ||
      job.experiment().layout.ep > 1 || job.experiment().layout.zero > 0) {
    return {};
  }
  std::vector<Algorithm> better;
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
    CollectiveModel network = job.data_network();
    network.pin({algorithm, Protocol::none});
    Seconds chosen;
    Seconds pinned;
    for (const BucketKind& kind : plan.kinds) {
      for (const BucketRound& round : kind.rounds) {
        const CollectivePrice price = network.price(round.message.collective, round.message.size);
        chosen += round.message.alone;
        pinned += price.time * (1.0 + price.relative_sd);
      }
    }
    if (pinned < chosen) {
      better.push_back(algorithm);
    }
  }
  return better;
}

Variant best_remedy(const PreparedExperiment& job, const RemedyLimits& limits,
                    const Latents& mean) {
  const auto time = [&](const Variant& variant) {
    const bool prior = mean == Latents{};
    return (prior ? variant.prediction.step : central_step(variant.plan, job.experiment(), mean)) /
           variant.batches;
  };
  Variant best = uncompressed_variant(job, {});
  Seconds fastest = time(best);
  const bool must_fit = best.prediction.memory.fits();
  const auto consider = [&](Variant variant) {
    if (must_fit && !variant.prediction.memory.fits()) {
      return;
    }
    if (const Seconds taken = time(variant); taken < fastest * (1.0 - worthwhile)) {
      best = std::move(variant);
      fastest = taken;
    }
  };
  for (Change change : candidate_changes(job.experiment(), limits)) {
    Variant variant = uncompressed_variant(job, change);
    const std::vector<Algorithm> better =
        limits.change_algorithm ? better_algorithms(job, variant.plan) : std::vector<Algorithm>{};
    consider(std::move(variant));
    for (const Algorithm algorithm : better) {
      change.algorithm = algorithm;
      consider(uncompressed_variant(job, change));
    }
  }
  return best;
}

}  // namespace payoff
