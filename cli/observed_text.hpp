// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/payoff.hpp"

// What measurements of the user's own have made of a prediction, in words. Empty without any.

namespace payoff {

[[nodiscard]] std::string observed_sentence(const Payoff& payoff);
// Every measurement where there are several, and what they leave of what is not known.
[[nodiscard]] std::string observed_tables(const Payoff& payoff);

}  // namespace payoff
