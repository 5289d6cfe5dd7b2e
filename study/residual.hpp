// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "study/validate.hpp"

// Why a prediction is as far off as it is: the term of the waterfall that is wrong if only one of
// them is, the law that this term comes from, and the measurement that would say whether it is that
// law. A hypothesis, not a proof: several terms may be wrong together, and what a source does not
// state (ValidationCase::assumptions) comes before any law.

namespace payoff {

// Which term of a prediction has to change least, relative to itself, for the whole to be as
// measured, and by which factor; nullopt where none can (the others alone are longer). Of a
// speedup, what both runs compute changes in both, codecs and messages in the compressed one alone.
struct Suspect {
  std::string term;
  double share{};   // of the predicted step
  double factor{};  // that would settle it
};
[[nodiscard]] std::optional<Suspect> suspect_of(const ValidationCase& failed);

struct Residual {
  std::optional<Suspect> suspect;  // nullopt where no single term could be at fault
  std::string primitive;           // what the term is and which law prices it
  std::string measurement;
};

// Of a scored case.
[[nodiscard]] Residual residual_of(const ValidationCase& failed);

}  // namespace payoff
