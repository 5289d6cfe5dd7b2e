// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/step_overheads.hpp"
#include "sim/engine.hpp"
#include "sim/path.hpp"
#include "sim/step.hpp"

// The end of a step, when all ranks are through: they wait for the latest host, then for the next
// batch, which a loader has been making since the step began, or begins to make now; then comes the
// step's share of the checkpoints. One after the other, as events. Nothing that waits for nothing
// is an event.

namespace payoff::sim {

class StepEnd {
 public:
  // Goes on with an engine in which nothing runs any more.
  StepEnd(const StepOverheads& overheads, Engine& engine);

  void add_to(SimulatedStep& step) const;
  // Beside the first place, for all: they wait together. Null: nowhere.
  void write(TraceWriter* trace, bool several_places_a_stage) const;

 private:
  struct Part {
    Cause cause{};
    SimTime begin;
    SimTime end;
  };

  void wait_until(SimTime date, Cause cause);
  [[nodiscard]] SimTime checkpoint_end(const CheckpointTimes& times) const;

  Engine& engine_;
  std::vector<Part> parts_;
};

}  // namespace payoff::sim
