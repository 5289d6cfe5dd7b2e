// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/step_plan.hpp"
#include "sim/platform.hpp"

// What will happen in a run, counted before it: as many events as there will be, unless it is
// stopped or passes the end of the clock. Loading the next batch counts as one, though none happens
// where it is over before the step is.

namespace payoff::sim {

struct StepCount {
  std::uint64_t events{};
  std::uint64_t sends{};  // of them, at level `steps`
  std::uint64_t spans{};  // of a timeline, if one is written
};

[[nodiscard]] StepCount count_step(const StepPlan& plan, const Platform& platform);

}  // namespace payoff::sim
