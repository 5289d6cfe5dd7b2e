// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/collective.hpp"
#include "model/compression.hpp"
#include "model/layout.hpp"
#include "model/stage_compute.hpp"
#include "model/step_plan.hpp"

// How gradients travel: those of a stage are cut into buckets as PyTorch DDP does, then each kind
// of bucket goes dense, or through the rounds of a compression method. Every call is priced alone.

namespace payoff {

// The tensors of a bucket. Buckets with equal tensors cost the same.
struct BucketTensors {
  std::vector<ParameterTensor> tensors;
  std::int64_t elements{};

  bool operator==(const BucketTensors&) const = default;
};

// The buckets of a stage; kinds not met before are added to `kinds`.
[[nodiscard]] std::vector<Bucket> cut_buckets(const std::vector<ReadyGradient>& gradients,
                                              const Training& training,
                                              std::vector<BucketTensors>& kinds);

struct GradientContext {
  const Gpu& gpu;
  const Software& software;
  const Training& training;
  const ParallelLayout& layout;
  const CollectiveModel& network;
};

// What becomes of each kind of bucket.
[[nodiscard]] std::vector<BucketKind> plan_kinds(const std::vector<BucketTensors>& kinds,
                                                 const CompressionPlan& compression,
                                                 const GradientContext& context);

}  // namespace payoff
