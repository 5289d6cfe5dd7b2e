// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/remedy_limits.hpp"
#include "model/topology.hpp"
#include "study/engine.hpp"
#include "study/layout_search.hpp"
#include "study/payoff.hpp"

// Where a job should run, and whether compression still pays there. The few layouts that a search
// finds fastest are run again by the simulator and compared under the same draws; the rival of the
// best compressed one is the best uncompressed one, not the job as given. Of candidates that cannot
// be told apart (the fastest is not faster by more than the band with nine to one) the simplest is
// the answer.

namespace payoff {

struct Finalist {
  Candidate candidate;
  ParallelLayout layout;
  std::string label;                 // of its plan
  StepPrediction prediction;         // analytical
  std::optional<Seconds> simulated;  // none where the simulator has no answer
  std::string reason;                // then why
  Seconds step_low{};                // 5 and 95 % of the draws, around step()
  Seconds step_high{};
  bool tied{};               // with the fastest of its kind
  Comparison against_given;  // the job as given, uncompressed

  // The simulator's, where there is one: it sees what shares links.
  [[nodiscard]] Seconds step() const { return simulated.value_or(prediction.step); }
};

struct SearchAnswer {
  SearchResult found;
  Finalist given;  // the job as it is, uncompressed, whether it fits or not
  // The answer first, then the others by their steps.
  std::vector<Finalist> uncompressed;
  std::vector<Finalist> compressed;
  // The best compressed candidate over the best uncompressed one.
  std::optional<Comparison> gain;
  // The best plan in the layout of the best uncompressed candidate, against every remedy there;
  // none where no plan can be used there.
  std::optional<Payoff> at_best_layout;
};

struct SearchAnswerOptions {
  SearchOptions search;
  RemedyLimits limits;
  double band{noise_band};
  std::size_t draws{128};
  std::uint64_t seed{1};
};

// Requires check() empty; `state` is what only the simulator sees. Same inputs, same answer.
[[nodiscard]] SearchAnswer answer_search(const Experiment& experiment, const ClusterState& state,
                                         const SearchAnswerOptions& options = {});

}  // namespace payoff
