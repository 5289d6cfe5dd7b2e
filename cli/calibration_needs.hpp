// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/trust.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"
#include "study/payoff.hpp"

// Which numbers of a prediction nobody measured or published, by how much what they belong to moves
// the verdict, and what measurement would settle them. The draws know four things that can be off
// (study/sensitivity.hpp): everything that a GPU computes, the links, the codecs of a strategy, and
// work beside other work. The shares of the variance are theirs; numbers of one thing stand in the
// order of their own spread, those without one last.

namespace payoff {

struct Measurement {
  std::string text;  // "payoff-kernels --only gemm on h100-sxm"
  Facts settles;     // assumed, or of a data sheet
};

struct Need {
  std::string subject;      // "links"
  double variance_share{};  // of ln(speedup over the best remedy)
  double speedup_low{};     // when its parts are off alone, the widest of them
  double speedup_high{};
  std::vector<Measurement> measurements;
};

// Of one strategy, the largest share first; subjects with nothing to settle are left out.
[[nodiscard]] std::vector<Need> calibration_needs(const PreparedExperiment& prepared,
                                                  const Trust& trust, const PlanPayoff& plan);

}  // namespace payoff
