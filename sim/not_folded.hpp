// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/layout.hpp"
#include "model/topology.hpp"
#include "sim/topology_platform.hpp"

// Why every rank of a job is simulated by itself (sim/folding), in words: what of the job tells its
// ranks apart, all of it where there is more than one thing.

namespace payoff::sim {

// Of a step that did not fold: as many places as ranks.
[[nodiscard]] std::string why_not_folded(const ClusterState& state, const ParallelLayout& layout,
                                         const PlatformRules& rules);

}  // namespace payoff::sim
