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

// How the gradients of one stage travel: cut into buckets as PyTorch DDP does, then each bucket
// dense, or through the rounds of a compression method. Every call is priced alone.

namespace payoff {

// Buckets with equal tensors cost the same: `like` is the first of them, often the bucket itself.
struct PreparedBucket {
  std::size_t like{};
  int ready_after{};
  std::int64_t elements{};
  std::vector<ParameterTensor> tensors;
};

[[nodiscard]] std::vector<PreparedBucket> cut_buckets(const std::vector<ReadyGradient>& gradients,
                                                      const Training& training);

struct GradientContext {
  const Gpu& gpu;
  const Software& software;
  const Training& training;
  const ParallelLayout& layout;
  const CollectiveModel& network;
};

[[nodiscard]] std::vector<Bucket> plan_buckets(const std::vector<PreparedBucket>& buckets,
                                               const CompressionPlan& compression,
                                               const GradientContext& context);

}  // namespace payoff
