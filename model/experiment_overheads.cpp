// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/experiment.hpp"

// What a prepared job takes at the end of a step beside its work.

namespace payoff {
namespace {

// The copy takes what the fullest GPU holds of the model; replicas are written once.
CheckpointTimes checkpoint_times(const Checkpointing& asked, Bytes size, Bytes of_one_gpu) {
  if (asked.every == 0) {
    return {};
  }
  return {asked.every, asked.asynchronous,
          asked.asynchronous ? of_one_gpu / asked.host_copy : Seconds{},
          (asked.size > 0_B ? asked.size : size) / asked.storage};
}

// What a stage has of embedding tables.
Bytes tables_of(const std::vector<const Layer*>& layers) {
  Bytes sum;
  for (const Layer* layer : layers) {
    sum += layer->tables.weights + layer->tables.state;
  }
  return sum;
}

}  // namespace

StepOverheads PreparedExperiment::overheads() const {
  const ParallelLayout& layout = experiment_.layout;
  const Training& training = experiment_.training;
  const Bytes weight = weight_size(training.precision, experiment_.software.fp8_weights);
  Bytes size;
  Bytes fullest;
  Bytes tables;  // of the rank that holds most
  for (const Stage& stage : stages_) {
    const auto experts = static_cast<double>(stage.prepared.compute->expert_parameters);
    const double others = static_cast<double>(stage.prepared.compute->parameters) - experts;
    size += (layout.tp * others + layout.expert_ranks() * experts) *
            (weight + training.optimizer_bytes_per_parameter);
    const double state = layout.zero > 0
                             ? others / layout.shard_ranks() + experts / layout.expert_shards()
                             : others + experts;
    const double kept = layout.zero == 3 ? state : others + experts;
    fullest = std::max(fullest, kept * weight + state * training.optimizer_bytes_per_parameter);
    if (workload_->recommender) {  // nothing else has tables
      tables += tables_of(stage.layers);
    }
  }
  if (workload_->recommender) {
    const TableDivision all = divide_tables(workload_->recommender->tables, 1);
    size += all.fullest + all.fullest_state;
    fullest += tables;
  }
  return {expected_maximum(training.host_jitter, layout.ranks()), training.data,
          checkpoint_times(training.checkpoint, size, fullest)};
}

}  // namespace payoff
