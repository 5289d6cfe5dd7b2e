// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/collective_output.hpp"
#include "model/collective.hpp"

// The answer of `payoff collective` for people.

namespace payoff {

[[nodiscard]] std::string collective_text(const CollectiveQuestion& question,
                                          const std::vector<CollectiveRow>& rows);

// By a ring, by halving and doubling, by a tree, on two levels; none where they were not asked for.
[[nodiscard]] std::vector<Seconds> textbook_times(const CollectiveRow& row);

// What the law of the question's links was fitted to.
[[nodiscard]] FitDomain measured_on(const CollectiveQuestion& question);

}  // namespace payoff
