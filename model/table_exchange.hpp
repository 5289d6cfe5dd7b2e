// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compute.hpp"
#include "model/step_plan.hpp"
#include "model/workload.hpp"

// Vectors of embedding tables on their way to the ranks of their samples, and their gradients back,
// beside the layer that stands between (the bottom MLP of a recommender). The message starts before
// that layer and is waited for after it; its kernels hold compute units meanwhile. A layer that
// takes C alone, and a message that takes M and holds a share h of the units, take together
//
//   max(M, C + h M)
//
// What that is longer than C is the message of the plan, as of a ring's hops (model/
// stage_messages.hpp): what is hidden holds neither links nor units of anything else.

namespace payoff {

// What `layer` takes alone, forward or backward.
[[nodiscard]] Seconds time_beside_tables(const Layer& layer, bool forward, int micro_batch,
                                         const ComputeContext& compute);

// What is left of a message beside so much work.
[[nodiscard]] Message exposed_beside(const Message& whole, Seconds work, const Gpu& gpu);

}  // namespace payoff
