// SPDX-License-Identifier: Apache-2.0
#include "model/experiment.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/groups.hpp"
#include "model/interference.hpp"
#include "model/layer_division.hpp"
#include "model/stage_compute.hpp"

namespace payoff {
namespace {

// The job alone: methods are large.
Experiment uncompressed(const Experiment& experiment, const Training& training, int micro_batches) {
  Experiment result{experiment.name,
                    experiment.cluster,
                    experiment.software,
                    experiment.model,
                    experiment.layout,
                    training,
                    {},
                    experiment.layer_times};
  result.layout.micro_batches = micro_batches;
  result.plans.push_back(experiment.plans.front());
  return result;
}

// Where casts are part of other kernels, backward reads the inputs of fp8 products as they were
// cast (Transformer Engine); else it casts them anew from what is kept in 16 bits (torchao).
ActivationSizes kept_sizes(const Experiment& experiment) {
  const Precision precision = experiment.training.precision;
  return {activation_size(precision), experiment.software.fused_elementwise
                                          ? element_size(precision)
                                          : activation_size(precision)};
}

// The head of the last stage multiplies by a copy of the embedding's table.
void copy_embedding(Workload& workload) {
  ParameterTensor& table =
      workload.layers.back().parameters.emplace_back(workload.layers.front().parameters.front());
  table.is_copy = true;
}

}  // namespace

bool copies_embedding(const Experiment& experiment) {
  const auto* shape = std::get_if<TransformerShape>(&experiment.model);
  return shape != nullptr && ties_head(*shape) && experiment.layout.pp > 1 &&
         !is_v_shaped(experiment.layout.schedule);
}

std::shared_ptr<const Workload> workload_of(const Experiment& experiment) {
  const ParallelLayout& layout = experiment.layout;
  const auto* table = std::get_if<LayerTable>(&experiment.model);
  if (table != nullptr && !(*table)->recommender && experiment.layer_times.empty()) {
    return table->shared();
  }
  const auto workload = std::make_shared<Workload>(
      table == nullptr
          ? transformer_workload(std::get<TransformerShape>(experiment.model), layout.tp,
                                 layout.sequence_parallel, kept_sizes(experiment),
                                 {layout.cp, layout.context_exchange}, layout.experts(), layout.pp)
      : (*table)->recommender ? recommender_workload(*(*table)->recommender, layout.dp,
                                                     activation_size(experiment.training.precision))
                              : **table);
  if (copies_embedding(experiment)) {
    copy_embedding(*workload);
  }
  use_layer_times(experiment.layer_times, layout, *workload);
  return workload;
}

PreparedExperiment::PreparedExperiment(Experiment experiment, const NcclPin& pin)
    : PreparedExperiment(std::move(experiment), pin, AsOne{}) {
  prepare_parts();
}

PreparedExperiment::PreparedExperiment(Experiment experiment, const NcclPin& pin, AsOne /*one*/)
    : experiment_(std::move(experiment)),
      pin_(pin),
      workload_(workload_of(experiment_)),
      tensor_network_(network_of(MessageKind::tp_activations)),
      context_network_(network_of(MessageKind::cp_activations)),
      expert_network_(network_of(MessageKind::ep_activations)),
      expert_tensor_network_(network_of(MessageKind::etp_activations)),
      table_network_(network_of(MessageKind::table_activations)),
      data_network_(network_of(MessageKind::dp_gradients)),
      in_node_network_(network_of(part_in_node(data_network_.group()))),
      across_network_(network_of(part_across_nodes(data_network_.group()))),
      replica_network_(network_of(MessageKind::dp_replicas)),
      expert_data_network_(network_of(MessageKind::ep_gradients)),
      expert_replica_network_(network_of(MessageKind::ep_replicas)) {
  prepare_stages();
  ends_ = pipeline_ends(unpriced({}, stages_, waves_), &programs_);
}

PreparedExperiment::PreparedExperiment(const PreparedExperiment& like, const Training& training,
                                       int micro_batches, const NcclPin& pin)
    : experiment_(uncompressed(like.experiment_, training, micro_batches)),
      pin_(pin),
      workload_(like.workload_),
      tensor_network_(like.tensor_network_),
      context_network_(like.context_network_),
      expert_network_(like.expert_network_),
      expert_tensor_network_(like.expert_tensor_network_),
      table_network_(like.table_network_),
      data_network_(like.data_network_),
      in_node_network_(like.in_node_network_),
      across_network_(like.across_network_),
      replica_network_(like.replica_network_),
      expert_data_network_(like.expert_data_network_),
      expert_replica_network_(like.expert_replica_network_),
      waves_(like.waves_),
      stages_(like.stages_) {
  for (CollectiveModel* network :
       {&data_network_, &in_node_network_, &across_network_, &replica_network_,
        &expert_data_network_, &expert_replica_network_}) {
    network->pin(pin);
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    stages_[s].optimizer = last_update(*stages_[s].prepared.compute);
    cut_gradients(stages_, s, kinds_, weights_);
    stages_[s].memory = memory_without_codec(s);
  }
  plan_tied_sum();
  ends_ = pipeline_ends(unpriced({}, stages_, waves_), &programs_);
  for (const Part& part : like.parts_) {
    parts_.push_back({part.kinds, std::make_unique<PreparedExperiment>(*part.prepared, training,
                                                                       micro_batches, pin)});
  }
  parts_of_stage_ = like.parts_of_stage_;
}

void PreparedExperiment::prepare_stages() {
  const ParallelLayout& layout = experiment_.layout;
  const ComputeContext context = compute_context();
  const auto division = divide_layers(*workload_, layout);
  const auto waves = std::make_shared<WaveTable>(
      experiment_.cluster.gpu.compute_units, experiment_.cluster.gpu.pairs.compute_beside_message);
  waves_ = waves;
  stages_.clear();
  kinds_ = {};
  weights_ = {};
  for (std::size_t s = 0; s < division.size(); ++s) {
    Stage& stage = stages_.emplace_back();
    for (const std::size_t layer : division[s]) {
      stage.layers.push_back(&workload_->layers[layer]);
    }
    stage.prepared =
        prepare_stage(*workload_, division[s], layout, context, stage_networks(), *waves);
    share_equal(stages_, s);
    plan_update(stage);
    cut_gradients(stages_, s, kinds_, weights_);
    stage.boundary = boundary_size(workload_->layers[division[s].back()], layout);
    stage.memory = memory_without_codec(s);
  }
  plan_sends();
  plan_tied_sum();
}

ComputeContext PreparedExperiment::compute_context() const {
  return {experiment_.cluster.gpu, experiment_.software, experiment_.training.precision};
}

// Of the optimiser states that zero leaves to each rank.
void PreparedExperiment::plan_update(Stage& stage) const {
  const ParallelLayout& layout = experiment_.layout;
  const std::int64_t experts = stage.prepared.compute->expert_parameters;
  const std::int64_t others = stage.prepared.compute->parameters - experts;
  stage.optimizer = last_update(*stage.prepared.compute);
  stage.gather_weights = {};
  stage.gather_experts = {};
  if (layout.zero != 1 && layout.zero != 2) {
    return;
  }
  if (layout.shard_ranks() > 1) {
    stage.gather_weights = gather_message(others, gradient_context());
  }
  if (experts > 0 && layout.expert_shards() > 1) {
    stage.gather_experts = gather_message(experts, gradient_context(), true);
  }
}

// Of what no bucket has updated.
Work PreparedExperiment::last_update(const StageCompute& stage) const {
  const ParallelLayout& layout = experiment_.layout;
  const bool in_backward = updates_in_backward(experiment_.software, layout);
  const auto left = [&](std::int64_t all, int ranks, bool of_experts) {
    const bool in_buckets = (of_experts ? layout.expert_replicas() : layout.data_ranks()) > 1;
    return in_backward && in_buckets ? 0 : (all + ranks - 1) / ranks;
  };
  const std::int64_t experts = stage.expert_parameters;
  const std::int64_t updated = left(stage.parameters - experts, layout.shard_ranks(), false) +
                               left(experts, layout.expert_shards(), true);
  if (in_backward && updated == 0) {
    return {WorkKind::optimizer};
  }
  return {WorkKind::optimizer, optimizer_time(updated, experiment_.training, compute_context())};
}

// By bucket, or with sharded weights by unit. A stage that does what an earlier one does has the
// buckets of that one.
void PreparedExperiment::cut_gradients(std::vector<Stage>& stages, std::size_t s,
                                       GradientKinds& kinds, WeightKinds& weights) const {
  const Training& training = experiment_.training;
  Stage& stage = stages[s];
  stage.buckets.clear();
  stage.units = {};
  stage.gathers = {};
  if (experiment_.layout.zero < 3) {
    stage.buckets = stage.like < s
                        ? stages[stage.like].buckets
                        : cut_buckets(stage.prepared, experiment_.layout, training, kinds);
    return;
  }
  if (experiment_.layout.data_ranks() == 1) {
    return;
  }
  stage.units = weight_units(stage.layers, stage.prepared, training, experiment_.layout);
  stage.buckets =
      unit_buckets(stage.prepared, stage.units, experiment_.software, experiment_.layout, kinds);
  stage.gathers = stage_gathers(stage.units, experiment_.software, experiment_.layout, weights);
}

// A stage that does what an earlier one does shares its parts.
void PreparedExperiment::share_equal(std::vector<Stage>& stages, std::size_t s) {
  Stage& stage = stages[s];
  stage.like = s;
  for (std::size_t earlier = 0; earlier < s; ++earlier) {
    const PreparedStage& other = stages[earlier].prepared;
    if (*other.compute == *stage.prepared.compute && other.gradients == stage.prepared.gradients) {
      stage.like = earlier;
      stage.prepared = other;
      return;
    }
  }
}

GradientContext PreparedExperiment::gradient_context() const {
  return {experiment_.cluster,  experiment_.cluster.gpu, experiment_.software,
          experiment_.training, experiment_.layout,      data_network_,
          replica_network_,     in_node_network_,        across_network_,
          expert_data_network_, expert_replica_network_};
}

std::vector<CallCost> PreparedExperiment::codec_costs(const CompressionPlan& compression) const {
  return payoff::codec_costs(kinds_, compression, bucket_uses(compression).uses(),
                             gradient_context());
}

BucketUses PreparedExperiment::bucket_uses(const CompressionPlan& compression) const {
  BucketUses uses(compression, kinds_.elements.size());
  for (const Stage& stage : stages_) {
    uses.add(stage.buckets);
  }
  return uses;
}

std::size_t PreparedExperiment::most_buckets() const {
  std::size_t most = 0;
  for (const Stage& stage : stages_) {
    most = std::max(most, stage.buckets.size());
  }
  return most;
}

const Layer& PreparedExperiment::layer_completing(std::size_t bucket) const {
  const auto stage = std::find_if(stages_.begin(), stages_.end(),
                                  [&](const Stage& each) { return bucket < each.buckets.size(); });
  const std::vector<ReadyGradient>& gradients = stage->prepared.gradients;
  const auto last =
      std::find_if(gradients.begin(), gradients.end(), [&](const ReadyGradient& gradient) {
        return gradient.piece == stage->buckets[bucket].ready_after;
      });
  return *stage->layers[last->layer];
}

StepPrediction PreparedExperiment::predict(const CompressionPlan& compression) const {
  return predict(plan(compression));
}

StepPrediction PreparedExperiment::predict(const StepPlan& plan) const {
  const bool other_ends = plan.compresses_activations || !parts_.empty();
  StepPrediction prediction = other_ends ? evaluate(plan) : evaluate(plan, ends_);
  prediction.memory = memory(plan);
  return prediction;
}

}  // namespace payoff
