// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/problem.hpp"
#include "model/topology_check.hpp"
#include "profiles/read_topology.hpp"

// What is wrong with a topology that was read, mistakes of its text or not: everything that follows
// from what was read well, so that one run tells all of it, and nothing that a fallback made up.

namespace payoff {

// What only the graph of links tells, ranks that are cut off and faults of links that are not
// there: sim/topology. The topology that it is given passes check(), but for what is not known.
using FindInLinks = Problems (*)(const Topology&, KnownParts);

// `cluster_is_read`: how many GPUs the cluster has is known, where the topology takes them from it.
// Paths are those of the topology. Without `find_in_links` the links are not looked at.
[[nodiscard]] Problems check(const ReadTopology& read, bool cluster_is_read,
                             FindInLinks find_in_links);

// Whether the number of its GPUs is what was meant.
[[nodiscard]] bool knows_gpus(const ReadTopology& read, bool cluster_is_read);

}  // namespace payoff
