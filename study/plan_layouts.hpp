// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/experiment.hpp"
#include "study/layout_space.hpp"

// A search asks of a plan that some layout can have it: the job as given need not.

namespace payoff {

// Whether check() accepts the plan in the layout of the job or in one that a search tries. Memory
// is not asked about. Of layouts that differ in the schedule or in what runs again, which no plan
// looks at, one is asked for all. Requires check() empty without plans.
[[nodiscard]] bool has_layout_for(const CompressionPlan& plan, const Experiment& experiment,
                                  const std::vector<LayoutAxis>& keep = {});

}  // namespace payoff
