// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/step.hpp"
#include "tests/catch.hpp"

namespace payoff::test {

// A step of a plan with which nothing is wrong.
inline sim::SimulatedStep simulated(const StepPlan& plan, const sim::Platform& platform = {}) {
  REQUIRE(sim::check(plan, platform).empty());
  return sim::simulate(plan, platform);
}

}  // namespace payoff::test
