// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/step_plan.hpp"
#include "sim/platform.hpp"

// What a run keeps at most, by what makes it grow, with its platform and the analytical answer that
// is computed beside it. Between half and twice what the heap gives it, for jobs that take a tenth
// of a megabyte or more (tests/sim/step_memory_test.cpp).

namespace payoff::sim {

struct StepMemory {
  Bytes buckets;     // queued ones
  Bytes pieces;      // of forward and backward
  Bytes inputs;      // on their way between stages
  Bytes ranks;       // places and their groups
  Bytes operations;  // of all micro-batches
  Bytes sends;       // at level `steps`: of messages in flight, and the ways that they take
  std::uint64_t places{};

  [[nodiscard]] Bytes all() const { return buckets + pieces + inputs + ranks + operations + sends; }
};

[[nodiscard]] StepMemory memory_of_step(const StepPlan& plan, const Platform& platform);

}  // namespace payoff::sim
