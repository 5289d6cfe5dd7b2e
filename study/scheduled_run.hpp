// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "model/run_schedule.hpp"
#include "study/comparison.hpp"
#include "study/observed.hpp"
#include "study/remedy.hpp"

// A whole training whose compression changes as it goes (model/run_schedule.hpp), against the same
// training uncompressed, and against the best uncompressed remedy for all of it: time, bytes, and
// whether it pays. Every kind of step is one prediction of the analytical engine; a phase takes its
// expected step times its iterations, those that convergence costs more included:
//
//   T = sum over phases of  iterations (1 + inflation) (sum of share x step)
//
// Steady states only: what a change of plan costs once (state made anew, graphs captured again) is
// not in it, nor what decides when to change.

namespace payoff {

// One kind of step of a phase.
struct PhaseStep {
  double share{};  // expected, of the steps of the phase
  Seconds step{};
  Bytes sent{};  // what one GPU contributes to all messages of a step
};

struct PhasePayoff {
  std::string label;  // of its plan
  double steps{};     // inflation included
  PhaseStep sending;
  std::optional<PhaseStep> silent;
  std::optional<PhaseStep> refreshing;
  std::string refresh_label;  // of the plan that refreshes
  Seconds step{};             // expected
  Seconds step_low{};         // 5 and 95 % of the draws
  Seconds step_high{};
  Seconds time{};  // of all its steps
  Seconds time_low{};
  Seconds time_high{};
  Bytes sent{};                     // by one GPU, in all its steps
  Comparison against_uncompressed;  // the same iterations without compression and inflation
  Memory memory;                    // of its fullest step
};

// Of the training without compression, the job as given or changed.
struct DenseRun {
  Seconds time{};
  Seconds time_low{};
  Seconds time_high{};
  Bytes sent{};
};

struct RunPayoff {
  std::vector<PhasePayoff> phases;
  double iterations{};  // of the uncompressed training
  double steps{};
  Seconds time{};
  Seconds time_low{};
  Seconds time_high{};
  Bytes sent{};
  DenseRun uncompressed;
  Variant remedy;
  DenseRun with_remedy;
  Comparison against_uncompressed;
  Comparison against_remedy;
  std::optional<Conditioning> observed;
  double band{noise_band};

  [[nodiscard]] bool fits() const;
  // Against the best remedy. What does not fit in some phase pays for nobody.
  [[nodiscard]] Verdict verdict() const;
};

struct RunOptions {
  RemedyLimits limits;
  std::optional<Observation> observed;
  double band{noise_band};
  std::size_t draws{256};
  std::uint64_t seed{1};
};

// The plans of `experiment` are not asked for. Requires check() of the schedule, and of the
// experiment with the schedule's plans, empty; at least one phase. Same inputs, same answer.
[[nodiscard]] RunPayoff assess_run(const Experiment& experiment, const RunSchedule& schedule,
                                   const RunOptions& options = {});

// A step without gradients: no message, no codec, no copies of buckets. Weights that are updated
// with their buckets are updated after backward.
[[nodiscard]] StepPlan without_gradients(StepPlan plan);

}  // namespace payoff
