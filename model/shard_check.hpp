// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"

// Whether weights and their states can be sharded as a layout says: groups of `layout.shard` data
// ranks divide these, fill nodes evenly, and hold whole sets of experts.

namespace payoff {

// A node holds whole groups of so many neighbours, or a group whole nodes.
[[nodiscard]] bool fills_nodes(std::int64_t ranks, const Cluster& cluster);

// At most one problem of each field. `sound_ranks`: dp, tp, cp and pp are; groups of them wait.
void check_sharding(const ParallelLayout& layout, const Cluster& cluster, bool sound_ranks,
                    Problems& problems);

}  // namespace payoff
