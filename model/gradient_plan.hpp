// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/bucket_uses.hpp"
#include "model/collective.hpp"
#include "model/compression.hpp"
#include "model/layout.hpp"
#include "model/stage_compute.hpp"
#include "model/step_plan.hpp"

// How gradients travel: those of a stage are cut into buckets as PyTorch DDP does, then each kind
// of bucket goes dense, or through the rounds of a compression method. Every call is priced alone.

namespace payoff {

// The tensors of every kind of bucket: buckets of equal tensors cost the same. A kind is a call of
// the encoder.
struct GradientKinds {
  std::vector<std::int64_t> elements;  // of each kind
  std::vector<EqualTensors> tensors;   // of all kinds, in their order
};

// The buckets of a stage; kinds not met before are added. Each chunk of an interleaved stage has
// its own buckets, as Megatron-LM wraps every chunk on its own; so have gradients of experts that
// other ranks sum. What one rank holds alone travels in none.
[[nodiscard]] std::vector<Bucket> cut_buckets(const PreparedStage& stage,
                                              const ParallelLayout& layout,
                                              const Training& training, GradientKinds& kinds);

// The kind of a bucket of these tensors; added when not met before.
[[nodiscard]] std::size_t kind_of_gradients(std::span<const ReadyGradient> gradients,
                                            GradientKinds& kinds);

struct GradientContext {
  const Cluster& cluster;
  const Gpu& gpu;
  const Software& software;
  const Training& training;
  const ParallelLayout& layout;
  const CollectiveModel& network;          // of the ranks that share one copy, or of all
  const CollectiveModel& replicas;         // of the ranks that hold the same part of it; may be one
  const CollectiveModel& in_node;          // of the ranks of `network` in one node
  const CollectiveModel& across_nodes;     // of those with the same place in every node
  const CollectiveModel& experts;          // of the ranks that hold the same experts
  const CollectiveModel& expert_replicas;  // of them, those that hold the same part
};

// Whether the optimizer of a bucket follows on its gradients. Where weights are sharded and
// gradients accumulate, every micro-batch reduces, and the sum is whole only after the last one,
// unless a pipeline keeps them.
[[nodiscard]] constexpr bool updates_in_backward(const Software& software,
                                                 const ParallelLayout& layout) {
  return software.optimizer_in_backward &&
         (layout.zero != 3 || layout.passes() == 1 || layout.keeps_weights());
}

// A pass of a codec as work of a stage.
[[nodiscard]] Work codec_work(WorkKind kind, const PassCost& pass, const Method& method,
                              const GradientContext& context);

// What a codec does to each kind of bucket, before it is priced.
[[nodiscard]] std::vector<CallCost> codec_costs(const GradientKinds& kinds, const Method& method,
                                                const GradientContext& context);
// What the codecs of a plan do to each of `uses`; nothing to those left dense.
[[nodiscard]] std::vector<CallCost> codec_costs(const GradientKinds& kinds,
                                                const CompressionPlan& compression,
                                                std::span<const KindUse> uses,
                                                const GradientContext& context);

// What becomes of each of `uses`; `costs`: what codec_costs() says of the plan.
[[nodiscard]] std::vector<BucketKind> plan_kinds(const GradientKinds& kinds,
                                                 const CompressionPlan& compression,
                                                 std::span<const KindUse> uses,
                                                 std::span<const CallCost> costs,
                                                 const GradientContext& context);

}  // namespace payoff
