// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "model/topology.hpp"
#include "model/units.hpp"

// Bisection bandwidth of regular networks in closed form, for those that are too large for flows
// between all their GPUs (sim/bisection): the least of the cuts that a regular division into halves
// has. All servers do the same, so what a half sends is what one server can send, which is a flow
// inside that server, as often as there are servers in the half; and a level of the network is cut
// at as many equal links as it has between the halves. Or every server is divided alike, in blocks
// of its GPUs: again a flow inside one server, which the network may help.
//
//   fat tree     at the NICs, the leaves and the pods; a rail at its own leaf
//   dragonfly    at the NICs and between groups; not inside groups, so their links have to be wide
//                enough for it to be the least cut
//   torus        at the routers and across each side that is even
//   full mesh    at the routers and between all pairs of the two halves
//
// Of the divisions there these are the ones along levels and sides, and the tests hold both equal
// on random parameters. All are upper bounds.

namespace payoff::sim {

// Or why there is none: servers that do not fill halves, faults, loads that differ from link to
// link, an order of ranks, a graph of the user's own. The topology is right and has two GPUs.
[[nodiscard]] std::variant<Bandwidth, std::string> regular_bisection(const Topology& topology);

}  // namespace payoff::sim
