// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/explanation.hpp"

// What `payoff explain` prints.

namespace payoff {

// All terms side by side, and what the predictions rest on.
[[nodiscard]] std::string overview(const std::vector<TermExplanation>& terms,
                                   const std::string& label, const Trust& trust);
[[nodiscard]] std::string term_text(const TermExplanation& term, const std::string& label,
                                    const Experiment& experiment);

}  // namespace payoff
