// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// Time of operators on one GPU by roofline: a product takes the longer of its arithmetic at the
// achieved share of peak (tiles over compute units in whole waves, saturation in the inner
// dimension) and its memory traffic; everything else takes its memory traffic; nothing takes less
// than a launch. docs/model.md, "Compute".

namespace payoff {

struct ComputeContext {
  const Gpu& gpu;
  const Software& software;
  Precision precision{};
};

[[nodiscard]] Seconds forward_time(const Operator& op, double samples, const ComputeContext& context);
[[nodiscard]] Seconds backward_time(const Operator& op, double samples, const ComputeContext& context);

// Arithmetic of one sample, forward, as the papers count it (2 per multiply-add).
[[nodiscard]] Flops forward_flops(const Operator& op);

// One update of all parameters of a GPU: memory-bound.
[[nodiscard]] Seconds optimizer_time(std::int64_t parameters, const Training& training,
                                     const ComputeContext& context);

}  // namespace payoff
