// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/schedule.hpp"
#include "model/step_plan.hpp"

// What of a plan belongs to one operation, and to one bucket.

namespace payoff::sim {

struct PieceRange {
  std::size_t begin{};
  std::size_t end{};
};

// A stage's pieces hold its chunks in order of execution: forward from the first chunk on, backward
// from the last.
[[nodiscard]] inline PieceRange pieces_of(const StageCompute& compute, const Operation& operation,
                                          const ParallelLayout& layout) {
  const auto chunks = static_cast<std::size_t>(layout.virtual_stages);
  const auto chunk = static_cast<std::size_t>(operation.chunk);
  const std::size_t place = operation.is_forward ? chunk : chunks - 1 - chunk;
  const std::vector<Piece>& pieces = operation.is_forward ? compute.forward : compute.backward;
  const std::vector<std::size_t>& starts =
      operation.is_forward ? compute.forward_chunks : compute.backward_chunks;
  if (starts.size() == chunks) {
    return {starts[place], place + 1 < chunks ? starts[place + 1] : pieces.size()};
  }
  return {place * pieces.size() / chunks, (place + 1) * pieces.size() / chunks};
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

}  // namespace payoff::sim
