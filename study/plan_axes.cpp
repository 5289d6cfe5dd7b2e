// SPDX-License-Identifier: Apache-2.0
#include "study/plan_axes.hpp"

#include <algorithm>

#include "study/changed_computes.hpp"
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

void stretch_codec(Work& work, double factor) {
  work.alone = work.codec() * factor + work.bucket_copy + work.update;
}

void stretch_codec(HostWork& work, double factor) {
  work.copy *= factor;
  work.work *= factor;
}

void stretch_codec(std::vector<Piece>& pieces, double factor) {
  for (Piece& piece : pieces) {
    if (is_codec(piece.work.kind)) {
      stretch_codec(piece.work, factor);
    }
  }
}

}  // namespace

Seconds codec_time(const StepPlan& plan) {
  Seconds most;
  for (const StagePlan& stage : plan.stages) {
    most = std::max(most, codec_time(plan, stage));
  }
  return most;
}

StepPlan stretched_codec(StepPlan plan, double factor) {
  for (BucketKind& kind : plan.kinds) {
    stretch_codec(kind.decode, factor);
    stretch_codec(kind.host_decode, factor);
    for (BucketRound& round : kind.rounds) {
      stretch_codec(round.encode, factor);
      stretch_codec(round.host, factor);
    }
  }
  if (plan.compresses_activations) {
    change_computes(plan, [&](StageCompute& compute) {
      stretch_codec(compute.forward, factor);
      stretch_codec(compute.backward, factor);
      for (CodecTime* time : {&compute.forward_codec, &compute.backward_codec}) {
        time->encode *= factor;
        time->decode *= factor;
      }
    });
  }
  return plan;
}

void give_codec_time(StepPlan& plan) {
  for (BucketKind& kind : plan.kinds) {
    if (is_gathered(kind) || kind.left_dense) {
      continue;
    }
    const Seconds share = static_cast<double>(kind.elements) * 1_ns;
    kind.decode.alone += share;
    kind.rounds.front().encode.alone += share;
  }
}

}  // namespace payoff
