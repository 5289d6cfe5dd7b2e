// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/schedule.hpp"
#include "model/step_plan.hpp"
#include "sim/path.hpp"

// What of a plan belongs to one operation, and to one bucket, and under which cause it is booked.

namespace payoff::sim {

// Backward runs the chunks from the last one on.
[[nodiscard]] inline PieceRange pieces_of(const StageCompute& compute, const Operation& operation,
                                          const ParallelLayout& layout) {
  if (operation.is_forward) {
    return pieces_of_chunk(compute.forward, compute.forward_chunks,
                           static_cast<std::size_t>(operation.chunk));
  }
  return pieces_of_chunk(compute.backward, compute.backward_chunks,
                         static_cast<std::size_t>(layout.virtual_stages - 1 - operation.chunk));
}

[[nodiscard]] inline const std::vector<BucketRound>& rounds_of(const StepPlan& plan,
                                                               std::size_t stage,
                                                               std::size_t bucket) {
  return plan.kind(plan.buckets(stage)[bucket]).rounds;
}

[[nodiscard]] inline const payoff::Work& decode_of(const StepPlan& plan, std::size_t stage,
                                                   std::size_t bucket) {
  return plan.kind(plan.buckets(stage)[bucket]).decode;
}

[[nodiscard]] inline Cause cause_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::forward:
      return Cause::forward;
    case WorkKind::recompute:
      return Cause::recompute;
    case WorkKind::backward:
      return Cause::backward;
    case WorkKind::bucket_copy:
      return Cause::bucket_copy;
    case WorkKind::encode:
      return Cause::encode;
    case WorkKind::decode:
      return Cause::decode;
    case WorkKind::optimizer:
      return Cause::optimizer;
  }
  return Cause::backward;
}

}  // namespace payoff::sim
