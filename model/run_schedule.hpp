// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"

// A training whose compression changes as it goes: phases, each with one plan. Within a phase a
// step is one of at most three kinds, and what is counted is their expectation:
//
//   refreshing  with a plan of its own in every k-th step (a threshold found anew)       1 / k
//   sending     with the phase's plan in p of every H-th of the others      (1 - 1 / k) p / H
//   silent      without any message or codec of gradients: all that remain
//
// `H` local steps and `p`, the share of exchanges that an event triggers, are of algorithms that
// exchange models after a step: nothing of such an exchange hides behind backward. p is the share
// of steps in which messages are sent at all; workers that decide for themselves send whenever one
// of them does.

namespace payoff {

// A step of another plan every so often.
struct Refresh {
  std::size_t plan{};  // of RunSchedule::plans
  double every{1};     // in steps, at least 1
};

struct RunPhase {
  std::string name;       // as the user calls it; may be empty
  std::size_t plan{};     // of RunSchedule::plans
  double iterations{};    // of the uncompressed training, > 0
  double inflation{};     // iterations that convergence takes more, as a share of them, >= 0
  double local_steps{1};  // H, at least 1
  double trigger_probability{1};  // p, in (0, 1]
  std::optional<Refresh> refresh{};

  // What is exchanged is models, after the step.
  [[nodiscard]] bool exchanges_models() const {
    return local_steps > 1.0 || trigger_probability < 1.0;
  }
  // Steps that the phase takes.
  [[nodiscard]] double steps() const { return iterations * (1.0 + inflation); }
};

// Expected shares of the steps of a phase; they add up to 1.
struct StepShares {
  double sending{};
  double silent{};
  double refreshing{};
};
[[nodiscard]] StepShares step_shares(const RunPhase& phase);

struct RunSchedule {
  std::vector<CompressionPlan> plans;  // the first is "none"
  std::vector<RunPhase> phases;
  std::optional<double> iterations_per_epoch{};

  // Of the uncompressed training.
  [[nodiscard]] double iterations() const;
};

// Silent steps of a job whose states are sharded: they would need the gradients that are not sent.
[[nodiscard]] Problems check(const RunSchedule& schedule, const ParallelLayout& layout);

}  // namespace payoff
