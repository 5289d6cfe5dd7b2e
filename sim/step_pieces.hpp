// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/schedule.hpp"
#include "model/step_plan.hpp"
#include "sim/path.hpp"
#include "sim/sim_time.hpp"

// What of a plan belongs to one operation, and what its work is to the simulator.

namespace payoff::sim {

[[nodiscard]] inline PieceRange pieces_of(const StageCompute& compute, const Operation& operation,
                                          const ParallelLayout& layout) {
  if (operation.is_forward) {
    return pieces_of_chunk(compute.forward, compute.forward_chunks,
                           static_cast<std::size_t>(operation.chunk));
  }
  return pieces_of_chunk(compute.backward, compute.backward_chunks,
                         backward_place(operation, layout.virtual_stages, layout.schedule));
}

[[nodiscard]] constexpr Cause cause_of(WorkKind kind) {
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

// What a round does before its message, on the host and on the GPU; after the last one what
// decodes.
[[nodiscard]] inline const HostWork& host_part(const BucketKind& kind, std::size_t round) {
  return round < kind.rounds.size() ? kind.rounds[round].host : kind.host_decode;
}
[[nodiscard]] inline const payoff::Work& gpu_part(const BucketKind& kind, std::size_t round) {
  return round < kind.rounds.size() ? kind.rounds[round].encode : kind.decode;
}

[[nodiscard]] inline SimTime time_of(Seconds time) { return to_sim_time(time).value_or(never); }

}  // namespace payoff::sim
