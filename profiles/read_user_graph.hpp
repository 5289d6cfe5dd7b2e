// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/topology.hpp"
#include "profiles/section.hpp"

// The graph of a topology file: named vertices, links between them, and routes.

namespace payoff {

// `complete` becomes false when a link was refused.
[[nodiscard]] UserGraph read_user_graph(const Section& section, bool& complete);

// The `bandwidth` and `latency` of a link, in a section of their own or beside other keys.
[[nodiscard]] LinkRate read_rate(const Section& section);
[[nodiscard]] LinkRate read_rate(const Value& value);

}  // namespace payoff
