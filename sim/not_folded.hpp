// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/layout.hpp"
#include "model/topology.hpp"
#include "sim/topology_platform.hpp"

// Why ranks of a job are simulated by themselves (sim/folding), in words: what of the job tells its
// ranks apart, all of it where there is more than one thing.

namespace payoff::sim {

// Of a step that did not fold: as many places as ranks.
[[nodiscard]] std::string why_not_folded(const ClusterState& state, const ParallelLayout& layout,
                                         const PlatformRules& rules);

// For whoever is about to wait: the same, or how few ranks a class has and why; nothing where each
// has two or more on average.
[[nodiscard]] std::string how_little_folds(const FoldReport& fold, const ClusterState& state,
                                           const ParallelLayout& layout,
                                           const PlatformRules& rules);

}  // namespace payoff::sim
