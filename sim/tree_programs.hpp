// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "sim/collective_programs.hpp"
#include "sim/topology.hpp"

// Blink's collectives on the links of a topology (Wang et al., MLSys 2020): trees packed on the
// direct links of a mesh; on a switch one tree of one hop from every GPU; across servers three
// phases, in which every share of the buffer has a root of its own in every server, so that all
// GPUs and NICs take part.

namespace payoff::sim {

// An all-reduce; in one server also a broadcast from rank 0, or a sum at it. Or the reason why
// there is none.
[[nodiscard]] LaidOrReason packed_trees(Collective collective, const ProgramRanks& ranks,
                                        const Topology& topology, const TopologyGraph& graph);

}  // namespace payoff::sim
