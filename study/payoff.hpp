// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/comparison.hpp"
#include "study/observed.hpp"
#include "study/remedy.hpp"
#include "study/sensitivity.hpp"

// The question of the whole project: does compressing pay here, by how much, and how sure is that?
// START READING HERE: assess() predicts every plan, compares it with the job as given, with the
// same job reduced in 16 bits (a 32-bit baseline flatters compression) and with the best
// uncompressed remedy within the user's limits, and puts an interval and a probability on each
// comparison.

namespace payoff {

struct PlanPayoff {
  std::string label;
  StepPrediction prediction;
  Seconds step_low{};  // 5 and 95 % of the draws
  Seconds step_high{};
  Comparison against_uncompressed;
  std::optional<Comparison> against_sixteen_bit;  // where the job reduces in 32 bits
  Comparison against_remedy;
  std::vector<Influence> decided_by;  // its speedup against the remedy; where it was asked for
};

struct Payoff {
  std::vector<PlanPayoff> plans;       // as in the experiment: the first is uncompressed
  std::optional<Variant> sixteen_bit;  // the job with 16-bit reduction, where it has 32
  Variant remedy;                      // without change where nothing helps
  Comparison remedy_gain;              // of the remedy against the job as given
  std::optional<Conditioning> observed;
  double band{noise_band};  // of its verdicts

  // The plan that gains most over the best uncompressed remedy, among those that fit the memory;
  // null where there is none.
  [[nodiscard]] const PlanPayoff* best_plan() const;
  // Against the best remedy. What does not fit pays for nobody.
  [[nodiscard]] static Verdict verdict_of(const PlanPayoff& plan);
  // Whether any plan beats everything that needs no compression.
  [[nodiscard]] Verdict overall_verdict() const;
};

struct AssessOptions {
  RemedyLimits limits;
  std::vector<Observation> observed;              // of the uncompressed job, all of them together
  std::vector<ObservedCollective> collectives{};  // of its machine, with them
  double band{noise_band};
  std::size_t draws{256};
  std::uint64_t seed{1};
  bool search_remedy{true};  // false: the job as given stands for its remedy
  bool sensitivity{false};   // what decides each verdict
};

// Requires check() and check_observation() empty. Same inputs, same answer.
[[nodiscard]] Payoff assess(const Experiment& experiment, const AssessOptions& options = {});

}  // namespace payoff
