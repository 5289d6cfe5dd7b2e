// SPDX-License-Identifier: Apache-2.0
#include "study/engine_parts.hpp"

#include <utility>

#include "model/groups.hpp"
#include "model/model.hpp"

namespace payoff::engines {

// Agarwal 2022 and MG-WFBP: replicas of a whole model, one all-reduced gradient.
std::string beyond_data_parallelism(const Experiment& experiment) {
  const ParallelLayout& layout = experiment.layout;
  if (layout.tp > 1 || layout.cp > 1 || layout.pp > 1 || layout.ep > 1) {
    return "models data parallelism alone: tp, cp, pp and ep must be 1";
  }
  if (layout.zero > 0) {
    return "knows no sharded optimizer: zero must be 0";
  }
  if (experiment.cluster.is_mixed()) {
    return "knows one kind of nodes";
  }
  const auto* table = table_of(experiment.model);
  if (table != nullptr && table->recommender && layout.data_ranks() > 1) {
    return "knows no embedding tables that ranks divide";
  }
  return {};
}

Group group_of(const Experiment& experiment) {
  return data_group(experiment.layout, experiment.cluster.gpus_per_node);
}

Bytes sent(const BucketKind& bucket) {
  Bytes size;
  for (const BucketRound& round : bucket.rounds) {
    size += round.message.size;
  }
  return size;
}

// What is the same in every engine, and where the engine's part goes.
StepPrediction around(const StepPlan& plan) {
  const StageCompute& compute = *plan.stages.front().compute;
  const double micro_batches = plan.layout.micro_batches;
  StepPrediction prediction;
  Waterfall& w = prediction.waterfall;
  w.forward = micro_batches * compute.forward_work;
  w.recompute = micro_batches * compute.recompute_work;
  w.backward = micro_batches * compute.backward_work;
  w.optimizer = plan.stages.front().optimizer.alone;
  w.host = plan.host;
  for (const Bucket& bucket : plan.stages.front().buckets) {
    for (const BucketRound& round : plan.kind(bucket).rounds) {
      prediction.dp_bytes += round.message.size;
    }
    w.optimizer += plan.kind(bucket).decode.update;
  }
  return prediction;
}

EngineAnswer no_answer(std::string reason) { return {std::nullopt, std::move(reason)}; }

EngineAnswer finished(StepPrediction prediction, const PreparedExperiment& prepared,
                      const CompressionPlan& compression) {
  prediction.step = prediction.waterfall.total();
  add_overheads(prepared.plan(compression).overheads, prediction);
  prediction.hidden_dp = prediction.dp_communication - prediction.waterfall.exposed_dp;
  prediction.memory = prepared.predict(compression).memory;
  return {prediction, {}};
}

}  // namespace payoff::engines
