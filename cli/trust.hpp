// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "cli/priced_uses.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// What a prediction rests on beyond measurements: numbers of the profiles that are assumed, and
// what is priced outside the range that was fitted.

namespace payoff {

struct Trust : PricedUses {
  std::size_t numbers{};  // distinct ones that the predictions read
  Facts assumed;          // of them
  Facts read;             // as the profiles state them: a law once for each strategy
};

[[nodiscard]] Trust trust_in(const PreparedExperiment& prepared, const Facts& facts);

// "12 of 57 numbers are assumed, and 2 of 4 kinds of messages ...": empty when there is nothing.
[[nodiscard]] std::string trust_text(const Trust& trust);

}  // namespace payoff
