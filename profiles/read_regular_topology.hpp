// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/topology.hpp"
#include "profiles/section.hpp"

// Topologies that are regular: equal servers, and the network that joins them.

namespace payoff {

[[nodiscard]] Server read_server(const Section& section);

// `servers`: how many it joins.
[[nodiscard]] NetworkShape read_network_shape(const Section& network, int servers);

}  // namespace payoff
