// SPDX-License-Identifier: Apache-2.0
#include "sim/stage_messages.hpp"

#include <algorithm>
#include <utility>

#include "model/schedule.hpp"
#include "sim/step_pieces.hpp"

namespace payoff::sim {
namespace {

class Messages {
 public:
  void add(const Message& message, Traffic traffic, std::uint64_t times) {
    if (times == 0 || time_of(message.alone).picoseconds == 0) {
      return;
    }
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const StageMessage& known) {
      return known.traffic == traffic && *known.message == message;
    });
    if (same == all_.end()) {
      all_.push_back({&message, traffic, times});
    } else {
      same->times += times;
    }
  }
  void add(const BucketKind& kind, Traffic traffic, std::uint64_t times) {
    for (const BucketRound& round : kind.rounds) {
      add(round.message, traffic, times);
    }
  }
  [[nodiscard]] std::vector<StageMessage> take() { return std::move(all_); }

 private:
  std::vector<StageMessage> all_;
};

// Of a micro-batch: where a stage passes on what its chunks compute.
void add_sends(const StepPlan& plan, std::size_t stage, Messages& messages) {
  const ParallelLayout& layout = plan.layout;
  const auto micro_batches = static_cast<std::uint64_t>(layout.passes());
  for (int chunk = 0; chunk < layout.virtual_stages; ++chunk) {
    for (const bool forward : {true, false}) {
      const Toward toward = consumer_of({forward, chunk, 0}, static_cast<int>(stage),
                                        layout.stages(), layout.virtual_stages, layout.schedule)
                                .toward;
      if (toward == Toward::next_stage) {
        messages.add(plan.stages[stage].send_forward, Traffic::forward_sends, micro_batches);
      } else if (toward == Toward::previous_stage) {
        messages.add(plan.stages[stage].send_backward, Traffic::backward_sends, micro_batches);
      }
    }
  }
}

}  // namespace

std::vector<StageMessage> messages_of_stage(const StepPlan& plan, std::size_t stage) {
  const StagePlan& of = plan.stages[stage];
  const auto micro_batches = static_cast<std::uint64_t>(plan.layout.passes());
  Messages messages;
  for (const auto* pieces : {&of.compute->forward, &of.compute->backward}) {
    for (const Piece& piece : *pieces) {
      messages.add(piece.message, Traffic::activations, micro_batches);
    }
  }
  for (const Bucket& bucket : plan.buckets(stage)) {
    messages.add(plan.kind(bucket), Traffic::gradients, reductions_of(plan));
  }
  for (const auto* gathers : {&of.forward_gathers, &of.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      messages.add(plan.kinds[gather.kind], Traffic::weights, gathers_of(plan));
    }
  }
  if (plan.sums_tied(stage)) {
    messages.add(plan.tied_gradients, Traffic::gradients, 1);
  }
  messages.add(of.gather_weights, Traffic::weights, 1);
  messages.add(of.gather_experts, Traffic::weights, 1);
  add_sends(plan, stage, messages);
  return messages.take();
}

std::uint64_t reductions_of(const StepPlan& plan) {
  return plan.reduces_every_micro_batch ? static_cast<std::uint64_t>(plan.layout.passes()) : 1;
}

std::uint64_t gathers_of(const StepPlan& plan) {
  return plan.gathers_once ? 1 : static_cast<std::uint64_t>(plan.layout.passes());
}

}  // namespace payoff::sim
