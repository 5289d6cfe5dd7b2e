// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/step_plan.hpp"

// What one GPU of a stage sends in a step, before anything runs: what a run will cost and how long
// it is at least are sums over this.

namespace payoff::sim {

enum class Traffic : std::uint8_t {
  activations,    // of pieces: the compute stream waits for them
  gradients,      // of buckets
  weights,        // gathered for a micro-batch or after the optimizer
  forward_sends,  // to the stage that needs them
  backward_sends
};

[[nodiscard]] constexpr bool is_between_stages(Traffic traffic) {
  return traffic == Traffic::forward_sends || traffic == Traffic::backward_sends;
}

struct StageMessage {
  const Message* message{};
  Traffic traffic{};
  std::uint64_t times{};  // in a step
};

// Equal ones of one kind of traffic together, and none that takes no time.
[[nodiscard]] std::vector<StageMessage> messages_of_stage(const StepPlan& plan, std::size_t stage);

// How often a stage reduces a bucket and gathers a unit of its weights.
[[nodiscard]] std::uint64_t reductions_of(const StepPlan& plan);
[[nodiscard]] std::uint64_t gathers_of(const StepPlan& plan);

}  // namespace payoff::sim
