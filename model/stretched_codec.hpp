// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/step_plan.hpp"

// Docs: docs/model.md, section 3. A plan whose codecs take another time, everything else as it is:
// what Training::codec_speed asks for, and one axis of break-evens (study/plan_axes).

namespace payoff {

// All passes of codecs `factor` times as long, on GPU and host; but that of updated weights (zero
// 1, 2), which is part of the optimizer's work.
[[nodiscard]] StepPlan stretched_codec(StepPlan plan, double factor);
void stretch_codec(Work& work, double factor);

}  // namespace payoff
