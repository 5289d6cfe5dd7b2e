// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/random_topologies.hpp"

// Random jobs on clusters that are not even: slow GPUs, degraded and failed links, loads of others
// that differ from link to link, hashed routes, ranks in an order of their own, jitter, stages that
// differ. Seeded, the same on every compiler.

namespace payoff::test {

struct UnevenJob {
  Cluster cluster;
  ClusterState state;
  StepPlan plan;
  std::string kind;    // of topology
  std::string groups;  // beside those of tensors and gradients: "experts", "context", none
  // What tells ranks or links apart, each once, and only where it can: a GPU that has a rank, a
  // link that messages take (before it failed), a spread of loads on such links, hashed routes that
  // are others than balanced ones, an order that is not that of the GPUs, stages with other work.
  std::vector<std::string> asymmetries;
};

// Up to 256 GPUs; in one of ten up to that many, in the others up to 64.
[[nodiscard]] UnevenJob random_uneven_job(int seed);

// Groups of the messages that are there, of two or four: drawn beside everything else, so that the
// other draws stay as they were.
void add_groups(int seed, UnevenJob& job);

// Servers with a NIC for each GPU, 1 GB/s each, as many as the topology has.
[[nodiscard]] Cluster cluster_of(const Topology& topology, int gpus_per_node);

// All ranks and links of a job as build_platform sees them, less what others take.
struct ListedJob {
  sim::TopologyGraph graph;
  sim::Incidence incidence;
};
[[nodiscard]] ListedJob list(const UnevenJob& job);

[[nodiscard]] sim::BuiltPlatform build(const UnevenJob& job, const sim::PlatformRules& rules);
[[nodiscard]] sim::SimulatedStep simulated(const UnevenJob& job, const sim::Platform& platform);
// The end of every rank.
[[nodiscard]] std::vector<Seconds> ends(const UnevenJob& job, const sim::BuiltPlatform& built);
[[nodiscard]] std::vector<Seconds> ends_of_ranks(const sim::SimulatedStep& step,
                                                 const sim::BuiltPlatform& built);

}  // namespace payoff::test
