// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/step_plan.hpp"

// Small step plans for tests, times given outright.

namespace payoff::test {

inline StageCompute compute_of(const std::vector<Seconds>& forward,
                               const std::vector<Seconds>& backward, Seconds tp_message = {}) {
  StageCompute compute;
  const Message message{
      MessageKind::tp_activations, Collective::all_reduce, 1_MB, tp_message, 0, 0};
  for (const Seconds time : forward) {
    compute.forward.push_back({{WorkKind::forward, time}, message});
    compute.forward_work += time;
    compute.forward_messages += tp_message;
  }
  for (const Seconds time : backward) {
    compute.backward.push_back({{WorkKind::backward, time}, message});
    compute.backward_work += time;
    compute.backward_messages += tp_message;
  }
  return compute;
}

inline Message gradients(Seconds alone, Bytes size = 1_MB) {
  return {MessageKind::dp_gradients, Collective::all_reduce, size, alone, 0, 0};
}

inline void add_bucket(StepPlan& plan, std::size_t stage, int ready_after, Seconds encode,
                       const Message& message, Seconds decode) {
  BucketKind kind;
  kind.rounds.push_back({{WorkKind::encode, encode}, message});
  kind.decode = {WorkKind::decode, decode};
  plan.stages[stage].buckets.push_back({ready_after, plan.kinds.size()});
  plan.kinds.push_back(kind);
}

// Equal stages, each one piece forward and backward a chunk, without traffic.
inline StepPlan pipeline(int stages, int micro_batches, int chunks, Seconds forward,
                         Seconds backward) {
  const auto pieces = static_cast<std::size_t>(chunks);
  StageCompute stage_compute = compute_of(std::vector<Seconds>(pieces, forward / chunks),
                                          std::vector<Seconds>(pieces, backward / chunks));
  for (std::size_t c = 0; c < pieces; ++c) {
    stage_compute.forward_chunks.push_back(c);
    stage_compute.backward_chunks.push_back(c);
  }
  const auto compute = std::make_shared<const StageCompute>(std::move(stage_compute));
  StepPlan plan;
  plan.layout.pp = stages;
  plan.layout.micro_batches = micro_batches;
  plan.layout.virtual_stages = chunks;
  plan.overlap = true;
  for (std::size_t s = 0; s < static_cast<std::size_t>(stages); ++s) {
    StagePlan& stage = plan.stages.emplace_back();
    stage.like = s;
    stage.compute = compute;
  }
  return plan;
}

}  // namespace payoff::test
