// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/link_graph.hpp"
#include "sim/tree_packing.hpp"

// What the tests of packed trees look at: the NVLinks of a DGX-1, and whether a packing is one.

namespace payoff::sim::test {

[[nodiscard]] const LinkGraph& volta();   // DGX-1V: up to two links of 25 GB/s
[[nodiscard]] const LinkGraph& pascal();  // DGX-1P: the same pairs, one link of 20 GB/s each
// Those of the 8 GPUs whose bits are set.
[[nodiscard]] std::vector<Rank> members(unsigned set);

// Trees that span, and links that carry no more than they can.
void check_packing(const LinkGraph& mesh, const TreePacking& packing, TreeUse use);

}  // namespace payoff::sim::test
