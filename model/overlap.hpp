// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/step_plan.hpp"
#include "model/units.hpp"

// The last backward pass of a stage with its gradient traffic: three streams of one GPU (compute,
// codec beside it, communication) and the buckets that pass through them.
//
// * Buckets become ready in backward order. Their messages run one at a time, in the order in which
//   they were handed over (one NCCL communicator: one stream).
// * Codec work on the compute stream runs between two pieces of backward, as soon as it can; on the
//   side stream it shares the compute units with backward, each at half its rate (work is
//   conserved). Copies into and out of a bucket go with the codec's first and last work.
// * While a gradient message runs it holds compute units for its life, and what computes beside it
//   runs at the rate of the units left (DESIGN: SMs are reserved, not shared).
// * `after_backward`, or no overlap: every bucket waits for the end of backward.

namespace payoff {

struct OverlapResult {
  Seconds finish{};    // from the start of the backward pass to the last decoded bucket
  Seconds backward{};  // work of the pieces, alone
  Seconds recompute{};
  Seconds exposed_tp{};
  Seconds interference{};  // what sharing added to work on the critical path
  Seconds encode{};        // codec work on the critical path
  Seconds decode{};
  Seconds bucket_copy{};
  Seconds exposed_dp{};  // gradient messages that nothing hides
  Seconds dp_busy{};     // time with a gradient message in flight
};

[[nodiscard]] OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage);

}  // namespace payoff
