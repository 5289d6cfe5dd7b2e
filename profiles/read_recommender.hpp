// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/recommender.hpp"
#include "profiles/section.hpp"

namespace payoff {

// The keys of a model of family `dlrm` besides those of every model; what is wrong is reported.
[[nodiscard]] RecommenderShape read_recommender(const Section& root, std::string name);

}  // namespace payoff
