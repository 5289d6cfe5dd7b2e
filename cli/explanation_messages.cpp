// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "cli/explanation_parts.hpp"

// The messages that terms are sums of.

namespace payoff {
namespace {

ExplainedPart message_part(const Message& message) {
  return {fmt::format("{} of {} B", name(message.collective), put_in(message.size.si)), 1,
          put_in(message.alone.si), message.alone};
}

}  // namespace

std::vector<ExplainedPart> parts_of_activations(const ExplainedPlan& plan, MessageKind kind) {
  std::vector<ExplainedPart> parts;
  for (const auto* pieces : {&plan.stage.compute->forward, &plan.stage.compute->backward}) {
    for (const Piece& piece : *pieces) {
      if (piece.message.kind == kind && piece.message.alone > 0_s) {
        add_part(message_part(piece.message), parts);
      }
    }
  }
  return parts;
}

std::vector<ExplainedPart> parts_of_gradient_messages(const ExplainedPlan& plan) {
  std::vector<ExplainedPart> parts;
  const double reductions =
      plan.step.reduces_every_micro_batch ? plan.experiment().layout.micro_batches : 1;
  const auto add_kind = [&](const BucketKind& kind, double times) {
    for (const BucketRound& round : kind.rounds) {
      if (round.message.alone > 0_s) {
        ExplainedPart part = message_part(round.message);
        part.count = times;
        add_part(std::move(part), parts);
      }
    }
  };
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    add_kind(plan.step.kind(bucket), reductions);
  }
  for (const auto* gathers : {&plan.stage.forward_gathers, &plan.stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      add_kind(plan.step.kinds[gather.kind], plan.experiment().layout.micro_batches);
    }
  }
  if (plan.stage.gather_weights.alone > 0_s) {
    add_part(message_part(plan.stage.gather_weights), parts);
  }
  return parts;
}

}  // namespace payoff
