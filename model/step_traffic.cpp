// SPDX-License-Identifier: Apache-2.0
#include "model/step_traffic.hpp"

namespace payoff {
namespace {

Bytes sent(const BucketKind& kind) {
  Bytes sum;
  for (const BucketRound& round : kind.rounds) {
    sum += round.message.size;
  }
  return sum;
}

Bytes& activation_bytes(StepPrediction& prediction, MessageKind kind) {
  return kind == MessageKind::cp_activations ? prediction.cp_bytes
         : is_of_experts(kind)               ? prediction.ep_bytes
                                             : prediction.tp_bytes;
}

void add_activations(const StageCompute& compute, double micro_batches,
                     StepPrediction& prediction) {
  for (const auto* pieces : {&compute.forward, &compute.backward}) {
    for (const Piece& piece : *pieces) {
      if (piece.message.size > 0_B) {
        activation_bytes(prediction, piece.message.kind) += micro_batches * piece.message.size;
      }
    }
  }
}

}  // namespace

void add_traffic(const StepPlan& plan, std::size_t s, StepPrediction& prediction) {
  const StagePlan& stage = plan.stages[s];
  const double micro_batches = plan.layout.passes();
  if (!stage.compute->sends_nothing) {
    add_activations(*stage.compute, micro_batches, prediction);
  }
  const ParallelLayout& layout = plan.layout;
  for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    for (const bool forward : {true, false}) {
      const Toward toward =
          consumer_of({forward, chunk, 0}, static_cast<int>(s),
                      static_cast<int>(plan.stages.size()), layout.virtual_stages, layout.schedule)
              .toward;
      prediction.pp_bytes +=
          micro_batches * (toward == Toward::next_stage       ? stage.send_forward.size
                           : toward == Toward::previous_stage ? stage.send_backward.size
                                                              : Bytes{});
    }
  }
  const double reductions = plan.reduces_every_micro_batch ? micro_batches : 1.0;
  for (const Bucket& bucket : plan.buckets(s)) {
    prediction.dp_bytes += reductions * sent(plan.kind(bucket));
  }
  const double gatherings = plan.gathers_once ? 1.0 : micro_batches;
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      prediction.dp_bytes += gatherings * sent(plan.kinds[gather.kind]);
    }
  }
  prediction.dp_bytes += stage.gather_weights.size + stage.gather_experts.size;
  if (plan.sums_tied(s)) {
    prediction.dp_bytes += plan.tied_gradients.size;
  }
}

}  // namespace payoff
