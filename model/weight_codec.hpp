// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compression.hpp"
#include "model/gradient_plan.hpp"
#include "model/step_plan.hpp"
#include "model/weight_plan.hpp"

// Gathers of sharded weights that a plan compresses (ZeRO++ qwZ, SDP4Bit's weights): each rank
// encodes its part, gathers the payloads and decodes all of them. Weights of experts travel as they
// are, and so does what is not worth it to the method.
//
// * zero 3: every gather of a unit, forward and backward, has an encoder before it and a decoder
//   after it. Where each node keeps a copy (ZeRO++ hpZ), backward gathers inside the node.
// * zero 1, 2: the codec is part of the update of the weights, which the gather follows; its time
//   counts as the optimizer's.

namespace payoff {

// Requires `compression.weights`. `gathers` are those of plan_gathers(kinds), which the stages of
// `plan` count in; gathers of backward that are others come after them.
void compress_gathers(StepPlan& plan, const CompressionPlan& compression, const WeightKinds& kinds,
                      const GradientContext& context, std::vector<BucketKind>& gathers);

// What the codec does to each different message of those gathers; a message that travels as it is
// has no rounds. Their method is the last of the plan's.
[[nodiscard]] std::vector<CallCost> weight_costs(const StepPlan& plan,
                                                 const CompressionPlan& compression,
                                                 const WeightKinds& kinds,
                                                 const GradientContext& context);

}  // namespace payoff
