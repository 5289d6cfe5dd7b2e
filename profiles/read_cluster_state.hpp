// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/problem.hpp"
#include "model/topology.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_topology.hpp"
#include "profiles/section.hpp"

// What of a cluster only the simulator looks at, in the section `cluster` of an experiment:
//
//   topology: rail-pod.yaml      # or the keys of such a file; the server is the cluster's
//   on_gpus: [0, 1, 4, 5]        # of a larger topology: those that the cluster has
//   slow_gpus: [{gpu: 17, slowdown: 1.3}]
//   jitter: 2 %                  # or {sd: 2 %, seed: 7}

namespace payoff {

struct ReadClusterState {
  ClusterState state;
  std::optional<ReadTopology> topology;  // as it was read, to be checked when all keys were
  bool topology_is_file{};
  bool is_part{};  // `on_gpus` is there
};
[[nodiscard]] ReadClusterState read_cluster_state(const Section& section, const Cluster& cluster,
                                                  const ReadContext& context);

// Which of its links a group has of a hybrid cube depends on its GPUs there; prices see that much
// of `on_gpus`, or of the topology's `rank_order`.
void place_in_cube(const ClusterState& state, Cluster& cluster);

// After the reader's finish(): everything that is wrong with what was read well. Problems of a
// topology in a file of its own are reported at their place there, the others are returned, by path
// in the experiment.
[[nodiscard]] Problems check(const ReadClusterState& read, const Cluster& cluster,
                             bool cluster_is_read, const Reader& reader,
                             const ReadContext& context);

}  // namespace payoff
