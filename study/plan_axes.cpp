// SPDX-License-Identifier: Apache-2.0
#include "study/plan_axes.hpp"

#include <algorithm>

#include "study/compressed_kinds.hpp"

namespace payoff {
namespace {

// Encode and decode of a stage.
Seconds codec_time(const StepPlan& plan, const StagePlan& stage) {
  Seconds total;
  for (const Bucket& bucket : stage.buckets) {
    total += reductions(plan) * codec_time(plan.kind(bucket));
  }
  for_gathers(plan, stage,
              [&](const BucketKind& kind) { total += gatherings(plan) * codec_time(kind); });
  const StageCompute& compute = *stage.compute;
  return total +
         plan.layout.passes() * (compute.forward_codec.total() + compute.backward_codec.total());
}

}  // namespace

Seconds codec_time(const StepPlan& plan) {
  Seconds most;
  for (const StagePlan& stage : plan.stages) {
    most = std::max(most, codec_time(plan, stage));
  }
  return most;
}

void give_codec_time(StepPlan& plan) {
  for (BucketKind& kind : plan.kinds) {
    if (is_of_weights(kind) || kind.left_dense) {
      continue;
    }
    const Seconds share = static_cast<double>(kind.elements) * 1_ns;
    kind.decode.alone += share;
    kind.rounds.front().encode.alone += share;
  }
}

}  // namespace payoff
