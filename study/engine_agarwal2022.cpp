// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/group_paths.hpp"
#include "model/reference_agarwal2022.hpp"
#include "study/engine_parts.hpp"

namespace payoff::engines {
namespace {

// The flat ring of the paper: all GPUs, the bandwidth of the slowest link that one rank has.
RingNetwork ring_of(const Experiment& experiment) {
  const Group group = group_of(experiment);
  const GroupPaths paths = paths_of(experiment.cluster, group);
  if (paths.domains > 1) {
    return {group.ranks, experiment.cluster.network.law.step_simple, paths.domain};
  }
  return {group.ranks, experiment.cluster.fabric.law.step_simple, paths.gpu};
}

// Rounds of all buckets that are as far from the end travel as one message, as in the authors'
// serial reducers: dense vectors, first factors, second factors. Empty reason where both
// collectives are known to the paper.
std::vector<CompressedRound> serial_rounds(const StepPlan& plan, int workers, std::string& reason) {
  std::vector<CompressedRound> rounds;
  for (const Bucket& bucket : plan.stages.front().buckets) {
    const BucketKind& kind = plan.kind(bucket);
    const std::size_t count = kind.rounds.size();
    if (rounds.size() < count) {
      rounds.insert(rounds.begin(), count - rounds.size(), {});
    }
    for (std::size_t r = 0; r < count; ++r) {
      const Message& message = kind.rounds[r].message;
      CompressedRound& round = rounds[rounds.size() - count + r];
      if (message.size <= 0_B) {
        continue;
      }
      if (message.collective != Collective::all_reduce &&
          message.collective != Collective::all_gather) {
        reason = "prices all-reduce and all-gather, not " + std::string(name(message.collective));
      }
      const bool gathers = message.collective == Collective::all_gather;
      if (round.size > 0_B && round.gathers != gathers) {
        reason = "needs the same collective for all buckets of a round";
      }
      round.gathers = gathers;
      round.size += gathers ? message.size / workers : message.size;
    }
  }
  return rounds;
}

StepPrediction dense(StepPrediction prediction, const StepPlan& plan, const RingNetwork& network) {
  const StagePlan& stage = plan.stages.front();
  const std::size_t count = stage.buckets.size();
  Bytes others;
  for (std::size_t b = 0; b + 1 < count; ++b) {
    others += sent(plan.kind(stage.buckets[b]));
  }
  const auto overlapped = static_cast<double>(count - 1);
  const BucketedReduction reduction{count, overlapped > 0 ? others / overlapped : 0_B,
                                    sent(plan.kind(stage.buckets.back()))};
  // Only the last micro-batch reduces.
  const Seconds backward = stage.compute->backward_time();
  const Seconds slowed = reduction.slowdown * backward;
  Waterfall& w = prediction.waterfall;
  w.interference = slowed - backward;
  w.exposed_dp = agarwal2022_dense(backward, reduction, network) - slowed;
  prediction.dp_communication =
      overlapped * network.all_reduce(reduction.bucket) + network.all_reduce(reduction.last_bucket);
  return prediction;
}

StepPrediction compressed(StepPrediction prediction, const StepPlan& plan,
                          const std::vector<CompressedRound>& rounds, const RingNetwork& network) {
  Waterfall& w = prediction.waterfall;
  for (const Bucket& bucket : plan.stages.front().buckets) {
    const BucketKind& kind = plan.kind(bucket);
    w.decode += kind.decode.codec();
    for (const BucketRound& round : kind.rounds) {
      w.encode += round.encode.codec();
    }
  }
  w.exposed_dp = agarwal2022_compressed(0_s, 0_s, rounds, network);
  prediction.dp_communication = w.exposed_dp;
  return prediction;
}

}  // namespace

EngineAnswer agarwal2022(const PreparedExperiment& prepared, const CompressionPlan& compression) {
  const Experiment& experiment = prepared.experiment();
  if (std::string reason = beyond_data_parallelism(experiment); !reason.empty()) {
    return no_answer(std::move(reason));
  }
  const StepPlan plan = prepared.plan(compression);
  const StepPrediction prediction = around(plan);
  if (plan.stages.front().buckets.empty()) {
    return finished(prediction, prepared, compression);
  }
  const RingNetwork network = ring_of(experiment);
  if (compression.method && compression.method->host) {
    return no_answer("knows no codec on the host");
  }
  if (compression.chooses_buckets()) {
    return no_answer("compresses all buckets or none");
  }
  if (!compression.method) {
    return finished(dense(prediction, plan, network), prepared, compression);
  }
  std::string reason;
  const std::vector<CompressedRound> rounds = serial_rounds(plan, network.workers, reason);
  if (!reason.empty()) {
    return no_answer(std::move(reason));
  }
  return finished(compressed(prediction, plan, rounds, network), prepared, compression);
}

}  // namespace payoff::engines
