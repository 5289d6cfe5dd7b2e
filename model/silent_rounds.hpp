// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step_plan.hpp"

namespace payoff {

// Rounds without a message, as those inside a node of one GPU: their work goes on without waiting
// for the messages of other buckets, as part of what follows. Codecs on the host keep their rounds.
void merge_silent_rounds(BucketKind& kind);

}  // namespace payoff
