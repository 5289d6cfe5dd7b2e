// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "model/step_plan.hpp"

// What a plan says of the messages of sharded and replicated data parallelism: which of them it
// compresses, and how often a step sends them.

namespace payoff {

// Encode and decode, once.
[[nodiscard]] inline Seconds codec_time(const BucketKind& kind) {
  Seconds total = kind.decode.codec() + kind.host_decode.alone();
  for (const BucketRound& round : kind.rounds) {
    total += round.encode.codec() + round.host.alone();
  }
  return total;
}

// How often a step sums a bucket, and gathers a unit of weights.
[[nodiscard]] inline double reductions(const StepPlan& plan) {
  return plan.reduces_every_micro_batch ? plan.layout.passes() : 1;
}
[[nodiscard]] inline double gatherings(const StepPlan& plan) {
  return plan.gathers_once ? 1 : plan.layout.passes();
}

// `visit` sees the kind of every gather of a stage.
template <typename Visit>
void for_gathers(const StepPlan& plan, const StagePlan& stage, Visit visit) {
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      visit(plan.kinds[gather.kind]);
    }
  }
}

// Bytes that a rank gathers in a step, but for weights of experts.
[[nodiscard]] inline Bytes gathered_weights(const StepPlan& plan) {
  Bytes bytes;
  for (const StagePlan& stage : plan.stages) {
    bytes += stage.gather_weights.size;
    for_gathers(plan, stage, [&](const BucketKind& kind) {
      for (const BucketRound& round : kind.rounds) {
        bytes += round.message.kind == MessageKind::dp_weights
                     ? gatherings(plan) * round.message.size
                     : 0_B;
      }
    });
  }
  return bytes;
}

// `change` sees the messages of gradients and of gathered weights that the plan compresses; of a
// plan that compresses nothing, those of gradients.
template <typename Plan, typename Change>
void for_compressed_rounds(Plan& plan, Change change) {
  const auto encodes = [](const BucketKind& kind) {
    return is_of_weights(kind) && codec_time(kind) > 0_s;
  };
  const bool weights = std::any_of(plan.kinds.begin(), plan.kinds.end(), encodes);
  const bool gradients = plan.compresses_gradients || (!plan.compresses_activations && !weights);
  for (auto& kind : plan.kinds) {
    const bool gathered = is_of_weights(kind);
    if (gathered ? !encodes(kind) : !gradients || kind.left_dense) {
      continue;
    }
    for (auto& round : kind.rounds) {
      if (round.message.kind != MessageKind::ep_weights) {
        change(round.message);
      }
    }
  }
}

}  // namespace payoff
