// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/activation_codecs.hpp"
#include "model/compression.hpp"
#include "model/evaluate.hpp"
#include "model/gradient_plan.hpp"
#include "model/job_numbers.hpp"
#include "model/layer_times.hpp"
#include "model/layout.hpp"
#include "model/model.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/weight_plan.hpp"
#include "model/workload.hpp"

// The question: a cluster, a model, a layout and the compression plans to compare, the first of
// which is always "none". START READING HERE: predict() is the whole path from a question to a
// predicted step.

namespace payoff {

struct Experiment {
  std::string name;
  Cluster cluster;
  Software software;
  Model model;
  ParallelLayout layout;
  Training training;
  std::vector<CompressionPlan> plans;
  LayerTimes layer_times{};  // none: model/compute says them all
};

// Every combination that cannot be expressed, all at once; paths as in the experiment file, whose
// list of plans begins after "none": `compress.0` is plans[1].
[[nodiscard]] Problems check(const Experiment& experiment);

// The layers of its model, as one rank of a tensor group has them.
[[nodiscard]] std::shared_ptr<const Workload> workload_of(const Experiment& experiment);

// Whether the last stage of its pipeline holds a copy of the word embedding that the first one
// holds. In a V-shaped one both are the same ranks.
[[nodiscard]] bool copies_embedding(const Experiment& experiment);

// What does not depend on the compression plan: layers priced on this GPU, groups priced on this
// network, gradients cut into buckets. Build once, plan many strategies. Requires check() empty.
class PreparedExperiment {
 public:
  explicit PreparedExperiment(Experiment experiment, const NcclPin& pin = {});
  // The same job without its compression plans, with other buckets, precision of gradients,
  // overlap, number of micro-batches or algorithm of its gradient messages: layers and networks
  // keep their prices. Of `training` nothing else may differ.
  PreparedExperiment(const PreparedExperiment& like, const Training& training, int micro_batches,
                     const NcclPin& pin = {});

  // Views into its own workload: not copied, not moved.
  PreparedExperiment(const PreparedExperiment&) = delete;
  PreparedExperiment& operator=(const PreparedExperiment&) = delete;

  // Makes it the job with other numbers: what does not depend on those that differ is kept. The
  // same afterwards as if it had been prepared with them.
  void change(const JobNumbers& numbers);

  [[nodiscard]] StepPlan plan(const CompressionPlan& compression) const;
  // The same with what codec_costs() says of it.
  [[nodiscard]] StepPlan plan(const CompressionPlan& compression,
                              std::span<const CallCost> codec_costs) const;
  // What its codecs do to each kind of bucket of gradients; empty without one.
  [[nodiscard]] std::vector<CallCost> codec_costs(const CompressionPlan& compression) const;
  // What its codec of weights does to each different message of `plan`, which is made of it; empty
  // without one.
  [[nodiscard]] std::vector<CallCost> weight_costs(const CompressionPlan& compression,
                                                   const StepPlan& plan) const;
  // What its codecs of activations do, each different pass once.
  [[nodiscard]] std::vector<CodecPass> codec_passes(const CompressionPlan& compression) const;
  [[nodiscard]] StepPrediction predict(const CompressionPlan& compression) const;
  // Of a plan of this job.
  [[nodiscard]] StepPrediction predict(const StepPlan& plan) const;

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const CollectiveModel& data_network() const { return data_network_; }
  [[nodiscard]] const Workload& workload() const { return *workload_; }
  // Of gradients, of the stage that has most.
  [[nodiscard]] std::size_t most_buckets() const;
  // The layer whose gradient is the last of a bucket, on the first stage that has it.
  [[nodiscard]] const Layer& layer_completing(std::size_t bucket) const;
  // What encodes and decodes a kind of bucket of one of its plans.
  [[nodiscard]] const Gpu& gpu_of_kind(const StepPlan& plan, std::size_t kind) const;

 private:
  // The same job on nodes that are all of the kinds that a stage is on
  // (model/experiment_mixed.cpp).
  struct Part {
    std::vector<std::size_t> kinds;  // of the cluster; GPUs are those of the first one
    std::unique_ptr<PreparedExperiment> prepared;
  };
  struct AsOne {};  // of a cluster of several kinds: with GPUs of the first, among nodes of all
  PreparedExperiment(Experiment experiment, const NcclPin& pin, AsOne one);

  struct Stage {
    std::size_t like{};  // the first stage with equal work and gradients
    std::vector<const Layer*> layers;
    PreparedStage prepared;
    std::vector<Bucket> buckets;
    WeightUnits units;  // zero 3
    StageGathers gathers;
    Work optimizer;
    Message gather_weights;
    Message gather_experts;
    Bytes boundary;  // activations after its last layer
    Message send_forward;
    Message send_backward;
    Memory memory;  // without what a codec keeps
    // Of activations that are compressed, as in StagePlan.
    Bytes dense_send_forward;
    Bytes dense_send_backward;
    Bytes codec_state;
    Bytes codec_saved;
  };

  [[nodiscard]] CollectiveModel network_of(const Group& group) const;
  [[nodiscard]] CollectiveModel network_of(MessageKind kind) const;
  void prepare_stages();
  [[nodiscard]] StageNetworks stage_networks() const {
    return {tensor_network_, context_network_, expert_network_, expert_tensor_network_,
            table_network_};
  }
  static void share_equal(std::vector<Stage>& stages, std::size_t stage);
  void cut_gradients(std::vector<Stage>& stages, std::size_t stage, GradientKinds& kinds,
                     WeightKinds& weights) const;
  void plan_update(Stage& stage) const;
  [[nodiscard]] Work last_update(const StageCompute& stage) const;
  [[nodiscard]] StepOverheads overheads() const;
  [[nodiscard]] Message boundary_message(std::size_t stage, Bytes size) const;
  [[nodiscard]] static Message boundary_message(const CollectiveModel& network, Bytes size);
  void plan_sends();
  void plan_tied_sum();
  // One of the networks of gradients that has this group and the job's links; null: none.
  [[nodiscard]] const CollectiveModel* known_network(const Group& group) const;
  // What a change of the job leaves of a network; whether it is another one now.
  [[nodiscard]] bool renew(CollectiveModel& network, MessageKind kind) const;
  [[nodiscard]] bool renew(CollectiveModel& network, const Group& group) const;
  [[nodiscard]] bool renew_stage_networks();
  [[nodiscard]] bool renew_gradient_networks();
  // Whether gradients are cut as they were with these numbers.
  [[nodiscard]] bool cuts_alike(const JobNumbers& before) const;
  [[nodiscard]] ComputeContext compute_context() const;
  // The stages with compressed activations, and what their pieces consist of.
  struct Stages {
    std::vector<Stage> stages;
    std::shared_ptr<const WaveTable> waves;
  };
  [[nodiscard]] Stages with_codecs(const CompressionPlan& compression) const;
  [[nodiscard]] Stages with_codecs(ActivationCodecs& codecs) const;
  void compress_sends(Stage& stage, std::size_t s, const std::vector<std::size_t>& layers,
                      ActivationCodecs& codecs) const;
  void compress_send(std::size_t boundary, const ActivationCodecs::Send& codec, Message& send,
                     Bytes& dense) const;
  [[nodiscard]] GradientContext gradient_context() const;
  [[nodiscard]] BucketUses bucket_uses(const CompressionPlan& compression) const;
  [[nodiscard]] Memory memory_without_codec(std::size_t stage) const;
  [[nodiscard]] static StagePlan planned(const Stage& stage, bool has_buckets);
  // All but the kinds of buckets.
  [[nodiscard]] StepPlan unpriced(const CompressionPlan& compression,
                                  const std::vector<Stage>& stages,
                                  std::shared_ptr<const WaveTable> waves) const;
  [[nodiscard]] Memory memory(const StepPlan& plan) const;
  [[nodiscard]] Cluster own_nodes() const;
  void change_as_one(const JobNumbers& numbers);
  // Of stages on several kinds of nodes.
  void prepare_parts();
  [[nodiscard]] StepPlan plan_as_one(const CompressionPlan& compression,
                                     std::span<const CallCost> codec_costs) const;
  [[nodiscard]] StepPlan plan_of_parts(const CompressionPlan& compression,
                                       std::span<const CallCost> codec_costs) const;
  [[nodiscard]] Bytes memory_of_stage(std::size_t stage) const;

  Experiment experiment_;
  NcclPin pin_;
  std::shared_ptr<const Workload> workload_;
  CollectiveModel tensor_network_;
  CollectiveModel context_network_;
  CollectiveModel expert_network_;
  CollectiveModel expert_tensor_network_;
  CollectiveModel table_network_;        // of all that divide the tables of a recommender
  CollectiveModel data_network_;         // of the ranks that share a copy of the state, or of all
  CollectiveModel in_node_network_;      // of its ranks in one node
  CollectiveModel across_network_;       // of those with the same place in every node
  CollectiveModel replica_network_;      // of those that hold the same part
  CollectiveModel expert_data_network_;  // of those that hold the same experts, likewise
  CollectiveModel expert_replica_network_;
  GradientKinds kinds_;
  WeightKinds weights_;
  std::shared_ptr<const WaveTable> waves_;  // of all pieces
  std::vector<Stage> stages_;
  Message tied_gradients_;
  PipelinePrograms programs_;
  std::vector<StageEnd> ends_;                            // of the pipeline
  std::vector<Part> parts_;                               // none: all nodes are alike
  std::vector<std::vector<std::size_t>> parts_of_stage_;  // those that may set its pace
};

}  // namespace payoff
