// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/topology.hpp"
#include "sim/topology_platform.hpp"

// Which jobs are looked at rank by rank, on which topology, and which are too large for that.

namespace payoff::sim {

// What is listed rank by rank.
struct ListedJob {
  ClusterState state;
  ParallelLayout layout;
  bool has_own_topology{};
};

// Whether one rank of each stage stands for all. In an order of its own that is so where all nodes
// hold the same; ranks on nodes of one kind are listed all the same, as far as they can be.
[[nodiscard]] bool has_equal_stages(const Cluster& cluster, const ParallelLayout& layout);

// A cluster without a topology is on one switch.
[[nodiscard]] ListedJob with_topology(const Cluster& cluster, const ClusterState& state,
                                      const ParallelLayout& layout);

// A topology has the GPUs of the layout, and those that are slow.
[[nodiscard]] Problems check_sizes(const ClusterState& state, const ParallelLayout& layout);

// What has more ranks than are listed says why it does not fold, and what listing would cost.
[[nodiscard]] Problem too_many_listed(const ListedJob& listed, const StepPlan& plan,
                                      const PlatformRules& rules);

}  // namespace payoff::sim
