// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/layout.hpp"
#include "model/topology.hpp"
#include "sim/place.hpp"

// Folding by coordinates. In a layout that fills whole blocks of a regular network (a leaf with its
// servers, a pod, a server on one switch) a rank is the tuple (stage, block of the stage, place in
// the block). Shifting all blocks of all stages at once changes nothing that a step can see, so
// blocks without anything special are of one class however many there are, and a cluster with two
// of them in a stage has the same folded system as one with thousands. That cluster is what gets
// listed; prices and bytes stay those of the real one.

namespace payoff::sim {

struct Reduced {
  ClusterState state;  // of a cluster with `layout.ranks()` GPUs
  ParallelLayout layout;
};

// Nothing where it would not be exact (faults, hashed routes, ranks in another order, jitter, loads
// that differ from link to link, layouts that cut blocks, groups that exchange in pairs between
// blocks: of those each pair is another way) or gains nothing.
[[nodiscard]] std::optional<Reduced> reduce(const ClusterState& state, const ParallelLayout& layout,
                                            const GroupKinds& exchanges);

}  // namespace payoff::sim
