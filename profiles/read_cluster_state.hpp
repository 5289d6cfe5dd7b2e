// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/problem.hpp"
#include "model/topology.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/section.hpp"

// What of a cluster only the simulator looks at, in the section `cluster` of an experiment, or
// (the topology alone) in the profile of a cluster:
//
//   topology: rail-pod.yaml      # or the keys of such a file; the server is the cluster's
//   on_gpus: [0, 1, 4, 5]        # of a larger topology: those that the cluster has
//   slow_gpus: [{gpu: 17, slowdown: 1.3}]
//   jitter: 2 %                  # or {sd: 2 %, seed: 7}

namespace payoff {

// What is wrong with its combination is returned, by path in the experiment.
[[nodiscard]] Problems read_cluster_state(const Section& section, const Cluster& cluster,
                                          const ReadContext& context, ClusterState& state);

}  // namespace payoff
