// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/experiment.hpp"
#include "study/payoff.hpp"
#include "study/sensitivity.hpp"

// What to measure next. Of each measurement that can be made: how much of the spread of the speedup
// over the best remedy is expected to be left once it is known, and how probable it is that the
// verdict can be called then. The spread is the standard deviation of the logarithm; its variance
// never grows on average, where the width of an interval of a lopsided belief may.
//
// Expected, because nobody knows yet what the measurement will say: each draw in turn is taken for
// the truth and measured, with noise, and the other draws are weighted by how likely they make what
// was measured (a preposterior analysis by importance weights; Raiffa and Schlaifer, Applied
// Statistical Decision Theory, 1961). Where few draws are near, the noise is taken to be larger
// until several are: what is promised is then less than what is to be had.

namespace payoff {

struct PossibleMeasurement {
  enum class Kind {
    step,      // of the uncompressed job, on some number of GPUs
    profile,   // the same, and how much of it is exposed communication
    compute,   // kernels of one GPU
    messages,  // nccl-tests, of one kind of message
    codec,     // of the strategy, alone
    beside     // codecs beside other work
  };
  Kind kind{};
  int dp{};           // step, profile
  int nodes{};        // the same
  Unknown unknown{};  // messages: which
  // What each draw would show, one row for each quantity, and the noise of the quantity: one
  // standard deviation, in the same unit (of a step, its logarithm).
  std::vector<std::vector<double>> shown;
  std::vector<double> noise;
};

struct ExpectedOutcome {
  double spread_ratio{1};  // root of the mean variance of ln(speedup) after, over the one before
  double called{};         // probability that the verdict is not too close to call
};

// Of one measurement. `speedups` are those of the draws; nothing is learned from fewer than three.
[[nodiscard]] ExpectedOutcome expected_outcome(const PossibleMeasurement& measurement,
                                               std::span<const double> speedups, double band);

struct NextMeasurement {
  PossibleMeasurement::Kind kind{};
  int dp{};
  int nodes{};
  Unknown unknown{};
  ExpectedOutcome expected;
};

struct NextMeasurements {
  ExpectedOutcome now;                        // without any
  std::vector<NextMeasurement> measurements;  // the one that leaves least first
};

// For strategy `plan` of an experiment that was assessed, 1 or more; steps are offered on one node
// or the fewest that hold a replica, and on four times as many each, up to all, where they fit the
// memory.
[[nodiscard]] NextMeasurements next_measurements(const Experiment& experiment, const Payoff& payoff,
                                                 std::size_t plan);

}  // namespace payoff
