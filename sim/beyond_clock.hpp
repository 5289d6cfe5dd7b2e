// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "sim/links.hpp"
#include "sim/platform.hpp"

// What is known of the length of a step before it runs. A step is not shorter than the work of one
// of its GPUs, nor than the gradient messages of one of them, each one after the other on its
// links: where that is beyond the clock of 106 days (sim/sim_time.hpp) nothing is run. What
// interference, waiting and other messages add to it is found on the way.

namespace payoff::sim {

// Under the key that makes it so long: "layout.micro_batches", "cluster.inter.bandwidth",
// "cluster.topology", "cluster.slow_gpus", "model".
[[nodiscard]] std::optional<Problem> beyond_clock(const StepPlan& plan, const Platform& platform);

// Of a run that came to the end of the clock, if it did: the link that made most messages late.
void name_cause(std::optional<Problem>& problem, const std::vector<LinkUse>& links);

}  // namespace payoff::sim
