// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/trust.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// Of everything that the profiles of an experiment state, what its predictions read. Laws come
// whole (all protocols, precisions and kinds of kernels), and a prediction reads what its messages,
// its kernels and its codecs need.

namespace payoff {

// `messages`: of all strategies.
[[nodiscard]] Facts facts_read(const PreparedExperiment& prepared,
                               const std::vector<MessageUse>& messages, const Facts& facts);

// Each number once: the law of an implementation class is one, however many strategies use it.
[[nodiscard]] Facts distinct(const Facts& facts);

}  // namespace payoff
