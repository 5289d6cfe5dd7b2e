// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/sim/random_plans.hpp"

// Random jobs on clusters that are not even: slow GPUs, degraded links, hashed routes, ranks in an
// order of their own, stages that differ. Seeded, the same on every compiler. Links are so narrow
// that different kinds of traffic are in each other's way.

namespace payoff::test {

struct UnevenJob {
  Cluster cluster;
  ClusterState state;
  StepPlan plan;
  int asymmetries{};  // independent ones: of GPUs, links, routes, order, stages
};

// Up to 256 GPUs; in one of ten up to that many, in the others up to 64.
[[nodiscard]] UnevenJob random_uneven_job(int seed);

// Servers with a NIC for each GPU, 1 GB/s each, as many as the topology has.
[[nodiscard]] Cluster cluster_of(const Topology& topology, int gpus_per_node);
[[nodiscard]] Topology random_topology(Random& random, int servers, int gpus);

[[nodiscard]] sim::BuiltPlatform build(const UnevenJob& job, const sim::PlatformRules& rules);
[[nodiscard]] sim::SimulatedStep simulated(const UnevenJob& job, const sim::Platform& platform);
// The end of every rank.
[[nodiscard]] std::vector<Seconds> ends(const UnevenJob& job, const sim::BuiltPlatform& built);

// Of the jobs of seeds first to last: folded and unfolded steps are compared, rank by rank.
struct FoldingCount {
  int jobs{};
  int uneven{};  // two asymmetries or more
  std::uint64_t ranks{};
  std::uint64_t places{};
  std::uint64_t links{};
  std::uint64_t link_classes{};
};
[[nodiscard]] FoldingCount compare_folded(int first, int last);

}  // namespace payoff::test
