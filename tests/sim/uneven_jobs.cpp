// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/uneven_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

namespace payoff::test {
namespace {

using sim::BuiltPlatform;

NetworkShape random_network(Random& random, int servers) {
  const int pick = random.integer(0, 3);
  if (pick == 0 || servers == 1) {
    return SingleSwitch{};
  }
  FatTree tree = sim::test::fat_tree(random.chance(50), random.chance(50) ? 2 : 4,
                                     random.integer(1, 3), random.chance(50) ? 2.0 : 1.0);
  if (pick == 3) {
    tree = sim::test::with_pods(tree, 2, 2, 1.5);
  }
  return tree;
}

void add_asymmetries(Random& random, UnevenJob& job) {
  Topology& topology = *job.state.topology;
  const int gpus = static_cast<int>(topology.gpus());
  const auto& regular = std::get<RegularTopology>(topology.shape);
  const auto add = [&](int percent, auto make) {
    if (random.chance(percent)) {
      make();
      ++job.asymmetries;
    }
  };
  add(50, [&] {
    for (int i = random.integer(1, 2); i > 0; --i) {
      job.state.slow_gpus.push_back({"", random.integer(0, gpus - 1), random.between(1.05, 1.5)});
    }
  });
  add(40, [&] {
    const int server = random.integer(0, regular.servers - 1);
    const std::string prefix = regular.servers > 1 ? "s" + std::to_string(server) + "." : "";
    topology.faults.push_back(
        {"degraded.0", prefix + "gpu0", prefix + "switch0", random.between(0.2, 0.9)});
  });
  add(25, [&] { topology.balance = Balance::hashed; });
  add(20, [&] {
    topology.rank_order.resize(static_cast<std::size_t>(gpus));
    std::iota(topology.rank_order.begin(), topology.rank_order.end(), 0);
    for (int i = gpus - 1; i > 0; --i) {
      std::swap(topology.rank_order[static_cast<std::size_t>(i)],
                topology.rank_order[static_cast<std::size_t>(random.integer(0, i))]);
    }
  });
}

}  // namespace

Cluster cluster_of(const Topology& topology, int gpus_per_node) {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.fabric.kind = FabricKind::switched;
  cluster.fabric.per_gpu = cluster.fabric.pair = 1_GBps;
  cluster.fabric.max_gpus = gpus_per_node;
  cluster.network.kind = NetworkKind::rdma;
  cluster.gpus_per_node = gpus_per_node;
  cluster.nics_per_node = gpus_per_node;
  cluster.nic = 1_GBps;
  cluster.nodes = static_cast<int>(topology.gpus()) / gpus_per_node;
  return cluster;
}

Topology random_topology(Random& random, int servers, int gpus) {
  RegularTopology regular;
  regular.servers = servers;
  regular.server = sim::test::switched(gpus, random.chance(60) ? gpus : 1);
  regular.server.fabric_link.bandwidth = Bandwidth{random.between(1e9, 4e9)};
  regular.server.nic.bandwidth = Bandwidth{random.between(2e8, 2e9)};
  regular.network = random_network(random, servers);
  Topology topology;
  topology.shape = regular;
  topology.balance = Balance::ideal;
  return topology;
}

UnevenJob random_uneven_job(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  UnevenJob job;
  const bool pipeline = random.chance(60);
  auto [plan, traits] = pipeline ? random_pipeline(static_cast<std::uint64_t>(seed))
                                 : random_replicas(static_cast<std::uint64_t>(seed));
  job.plan = std::move(plan);
  const int gpus = random.chance(50) ? 4 : 8;
  // One in ten is as large as allowed.
  const int most = random.chance(10) ? 256 : 64;
  ParallelLayout& layout = job.plan.layout;
  layout.tp = 1 << random.integer(0, 3);
  layout.dp = std::max(1, random.integer(2, most) / (layout.tp * layout.pp));
  if (layout.dp % 2 == 0 && random.chance(30)) {
    layout.zero = 1;
    layout.shard = layout.dp / 2;
  }
  const int servers = (layout.ranks() + gpus - 1) / gpus;
  job.state.topology = random_topology(random, servers, gpus);
  job.cluster = cluster_of(*job.state.topology, gpus);
  job.asymmetries += layout.pp > 1 ? 1 : 0;  // uneven stages
  add_asymmetries(random, job);
  return job;
}

sim::SimulatedStep simulated(const UnevenJob& job, const sim::Platform& platform) {
  return sim::simulate(job.plan, platform);
}

BuiltPlatform build(const UnevenJob& job, const sim::PlatformRules& rules) {
  BuiltPlatform built = sim::build_platform(job.cluster, job.state, job.plan, rules);
  INFO((built.problems.empty() ? "" : built.problems.front().message));
  REQUIRE(built.problems.empty());
  return built;
}

std::vector<Seconds> ends(const UnevenJob& job, const BuiltPlatform& built) {
  const sim::SimulatedStep step = simulated(job, built.platform);
  REQUIRE_FALSE(step.problem);
  std::vector<Seconds> result;
  for (const std::uint32_t place : built.place_of_rank) {
    result.push_back(step.place_ends[place]);
  }
  return result;
}

FoldingCount compare_folded(int first, int last) {
  FoldingCount count;
  for (int seed = first; seed <= last; ++seed) {
    const UnevenJob job = random_uneven_job(seed);
    const BuiltPlatform folded = build(job, {true, false});
    INFO("job of seed " << seed << ": " << folded.fold.ranks << " ranks, " << folded.fold.places
                        << " places, " << job.asymmetries << " asymmetries");
    CHECK(ends(job, folded) == ends(job, build(job, {false, false})));
    ++count.jobs;
    count.uneven += job.asymmetries >= 2 ? 1 : 0;
    count.ranks += folded.fold.ranks;
    count.places += folded.fold.places;
    count.links += folded.fold.links;
    count.link_classes += folded.fold.link_classes;
  }
  std::printf(
      "folding: %d jobs, %d with two or more asymmetries; %.2f places for each rank, %.2f classes "
      "for each link\n",
      count.jobs, count.uneven,
      static_cast<double>(count.places) / static_cast<double>(count.ranks),
      static_cast<double>(count.link_classes) / static_cast<double>(count.links));
  return count;
}

}  // namespace payoff::test
