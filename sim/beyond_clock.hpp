// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "sim/links.hpp"
#include "sim/platform.hpp"

// What is known of the length of a step before it runs. A step is not shorter than what one of its
// GPUs does one after the other (work with the codecs on its stream and the activations that it
// waits for; codecs on a stream of their own or on the host; gradients with gathers of weights;
// sends toward one neighbour), nor than what its sends take on a link: where
// that is beyond the clock of 106 days (sim/sim_time.hpp) nothing is run. What interference,
// waiting and other messages add to it is found on the way.

namespace payoff::sim {

// Under the key that makes it so long: "layout.micro_batches" or "model", "compress",
// "cluster.slow_gpus", "training.checkpoint", or what says how wide the links are that are too
// narrow.
[[nodiscard]] std::optional<Problem> beyond_clock(const StepPlan& plan, const Platform& platform);

// What the work of a step grows with most readily: "layout.micro_batches", "model" where it is one.
[[nodiscard]] std::string_view key_of_work(const StepPlan& plan);

// Of a run that came to the end of the clock, if it did: the link that made a message latest.
void name_cause(std::optional<Problem>& problem, const StepPlan& plan,
                const std::vector<LinkUse>& links);

}  // namespace payoff::sim
