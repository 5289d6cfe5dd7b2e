// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/group_paths.hpp"
#include "model/hardware.hpp"

// What a rank sends to all others of its domain at once, each with an equal part, as in an
// all-to-all. Where every pair is joined directly and alike, or by a switch, that is all of its
// links; in a hybrid cube three of seven peers are reached by way of others, whose links carry what
// is not theirs, and the busiest link is the limit.

namespace payoff {

// A hybrid cube of P100 has single links between the same pairs as one of V100.
[[nodiscard]] bool is_single_cube(const Fabric& fabric);

[[nodiscard]] Bandwidth exchange_bandwidth(const Cluster& cluster, const GroupPaths& paths);

}  // namespace payoff
