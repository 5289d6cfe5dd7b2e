// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "sim/background.hpp"
#include "sim/not_folded.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/topologies.hpp"

// Steps on links and GPUs that are not all alike; every expected time is worked out by hand.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// Servers of one GPU with a NIC of 1 GB/s.
Cluster single_gpus(int nodes) {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.network.kind = NetworkKind::rdma;
  cluster.nics_per_node = 1;
  cluster.nic = 1_GBps;
  cluster.nodes = nodes;
  return cluster;
}

Topology on_leaves(int servers, int servers_per_leaf, double oversubscription) {
  Server server;
  server.nics = 1;
  server.nic = {1_GBps, {}};
  Topology topology = sim::test::regular(
      server, servers, sim::test::fat_tree(false, servers_per_leaf, 1, oversubscription));
  topology.balance = Balance::ideal;
  return topology;
}

// One stage of 10 ms forward and 20 ms backward, then an all-reduce of 1 MB: 1 ms alone, which is
// what the NIC of one of two ranks takes for 2 (n - 1) / n of it.
StepPlan replicas(int dp) {
  StepPlan plan = payoff::test::pipeline(1, 1, 1, 10_ms, 20_ms);
  payoff::test::add_bucket(plan, 0, 0, 0_s, payoff::test::gradients(1_ms), 0_s);
  plan.layout.dp = dp;
  return plan;
}

double step_ms(const Cluster& cluster, const ClusterState& state, const StepPlan& plan) {
  const sim::BuiltPlatform built = sim::build_platform(cluster, state, plan);
  INFO((built.problems.empty() ? "" : built.problems.front().message));
  REQUIRE(built.problems.empty());
  return sim::simulate(plan, built.platform).prediction.step / 1_ms;
}

}  // namespace

TEST_CASE("all ranks of a group wait for a slow GPU") {
  ClusterState state;
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(30 + 1.0, 1e-9));
  state.slow_gpus = {{"", 1, 1.5}};
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(1.5 * 30 + 1, 1e-9));
  const sim::BuiltPlatform built = sim::build_platform(single_gpus(2), state, replicas(2));
  const sim::SimulatedStep step = sim::simulate(replicas(2), built.platform);
  REQUIRE(step.place_ends.size() == 2);
  CHECK(step.place_ends[0] == step.place_ends[1]);
}

TEST_CASE("a slow GPU of one replica delays the other replicas only where they meet") {
  // Two stages, two replicas, no gradients: the other replica never waits.
  StepPlan plan = payoff::test::pipeline(2, 4, 1, 1_ms, 2_ms);
  plan.layout.dp = 2;
  ClusterState state;
  state.slow_gpus = {{"", 0, 2.0}};
  const sim::BuiltPlatform built = sim::build_platform(single_gpus(4), state, plan);
  const sim::SimulatedStep step = sim::simulate(plan, built.platform);
  // (m + p - 1) (f + b) = 15 ms untouched. At half speed stage 0 works 4 times 6 ms, and waits 1
  // ms: the first backward comes back after 3 ms on stage 1, beside a second forward of 2 ms.
  const auto last = std::max_element(step.place_ends.begin(), step.place_ends.end());
  const auto first = std::min_element(step.place_ends.begin(), step.place_ends.end());
  CHECK_THAT(*last / 1_ms, WithinRel(4 * 6 + 1.0, 1e-9));
  CHECK(*first < 15_ms + 1_us);
}

TEST_CASE("a degraded NIC makes a message as much longer as it is narrower") {
  ClusterState state;
  state.topology = on_leaves(2, 1, 1.0);
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(31.0, 1e-6));
  state.topology->faults.push_back({"degraded.0", "s0.nic0", "leaf0", 0.5});
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(32.0, 1e-6));
}

TEST_CASE("sends of four servers share the uplink of their leaf") {
  // 1 MB each: 1 ms by the NIC, 4 ms through an uplink that is as wide as one NIC.
  StepPlan plan = payoff::test::pipeline(2, 1, 1, 1_ms, 2_ms);
  plan.layout.dp = 4;
  for (StagePlan& stage : plan.stages) {
    stage.send_forward = {MessageKind::pp_activations, Collective::send_recv, 1_MB, 1_ms, 0, 0};
    stage.send_backward = stage.send_forward;
  }
  ClusterState state;
  state.topology = on_leaves(8, 4, 1.0);
  CHECK_THAT(step_ms(single_gpus(8), state, plan), WithinRel(1 + 1 + 3 + 1 + 2.0, 1e-6));
  state.topology = on_leaves(8, 4, 4.0);
  CHECK_THAT(step_ms(single_gpus(8), state, plan), WithinRel(1 + 4 + 3 + 4 + 2.0, 1e-6));
  // Others take half of it.
  state.topology->background[static_cast<std::size_t>(BackgroundClass::network)] = {0.5, 0};
  CHECK_THAT(step_ms(single_gpus(8), state, plan), WithinRel(1 + 8 + 3 + 8 + 2.0, 1e-6));
}

TEST_CASE("a job on part of a topology meets the links between its GPUs, and no others") {
  // Leaves of 4 servers, whose uplinks together carry half of what one NIC does.
  ClusterState state;
  state.topology = on_leaves(8, 4, 8.0);
  state.on_gpus = {2, 3};
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(31.0, 1e-6));
  state.on_gpus = {3, 4};
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(32.0, 1e-6));
  // Slow GPUs are counted in the job, whatever the topology calls them.
  state.slow_gpus = {{"", 1, 1.5}};
  CHECK_THAT(step_ms(single_gpus(2), state, replicas(2)), WithinRel(1.5 * 30 + 2, 1e-6));
  state.on_gpus = {3};
  const sim::BuiltPlatform small = sim::build_platform(single_gpus(2), state, replicas(2));
  REQUIRE(small.problems.size() >= 1);
  CHECK_THAT(small.problems[0].message, ContainsSubstring("has 1 GPUs, the layout needs 2"));
}

TEST_CASE(
    "the load of others is one of a class of links, and differs from link to link as stated") {
  // Every class there is: NVLink and PCIe in 240 servers of 8 GPUs, on a dragonfly.
  Server server = sim::test::pcie(true);
  server.fabric = ServerFabric::switched;
  server.fabric_link = sim::test::ten;
  Topology topology = sim::test::regular(server, 240, sim::test::dragonfly(5, 3, 3));
  const sim::LinkGraph graph = sim::test::built(topology).links;
  for (std::size_t c = 0; c < sim::link_class_count; ++c) {
    INFO(sim::name(static_cast<sim::LinkClass>(c)));
    topology.background = {};
    topology.background[c] = {0.4, 0.1};
    const std::vector<Bandwidth> left = sim::left_capacities(topology, graph);
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (sim::EdgeId e = 0; e < left.size(); ++e) {
      const double taken = 1 - left[e] / graph.edges()[e].capacity;
      if (graph.edges()[e].link_class != static_cast<sim::LinkClass>(c)) {
        REQUIRE(left[e] == graph.edges()[e].capacity);
        continue;
      }
      ++count;
      sum += taken;
      squares += (taken - 0.4) * (taken - 0.4);
    }
    REQUIRE(count >= 200);
    // Five standard errors.
    CHECK(std::abs(sum / count - 0.4) <= 5 * 0.1 / std::sqrt(count));
    CHECK(std::abs(std::sqrt(squares / count) - 0.1) <= 5 * 0.1 / std::sqrt(2 * count));
  }
}

TEST_CASE("an exchange of any group is as slow as the links between its pairs") {
  // Half of 1 MB to the other one: 0.5 ms at the NIC's 1 GB/s, within the 1 ms of its price.
  StepPlan plan = payoff::test::pipeline(1, 1, 1, 10_ms, 20_ms);
  plan.layout.tp = 2;
  StageCompute compute = payoff::test::compute_of({10_ms}, {20_ms});
  Message& message = compute.forward[0].message;
  message = {MessageKind::tp_activations, Collective::all_to_all, 1_MB, 1_ms, 0, 0};
  const auto ms = [&](const ClusterState& state) {
    plan.stages[0].compute = std::make_shared<const StageCompute>(compute);
    return step_ms(single_gpus(2), state, plan);
  };
  ClusterState state;
  state.topology = on_leaves(2, 2, 1.0);
  CHECK_THAT(ms(state), WithinRel(31.0, 1e-6));
  state.topology->faults.push_back({"degraded.0", "s0.nic0", "leaf0", 0.25});
  CHECK_THAT(ms(state), WithinRel(32.0, 1e-6));
  // Whether forward or backward has it.
  compute.backward[0].message = message;
  message = {};
  CHECK_THAT(ms(state), WithinRel(32.0, 1e-6));
}

TEST_CASE("with jitter a step is as slow as the slowest of its ranks") {
  ClusterState state;
  state.jitter = {0.1, 7};
  const Cluster cluster = single_gpus(32);
  const StepPlan plan = replicas(32);
  const sim::BuiltPlatform built = sim::build_platform(cluster, state, plan);
  double slowest = 1;
  for (const sim::Place& place : built.platform.places().places) {
    slowest = std::max(slowest, place.slowdown);
  }
  // Below 1.2 times the deviation lie 77 % of half-normal numbers, so all of 32 once in 4,000.
  CHECK(slowest > 1.12);
  CHECK(slowest < 1.6);
  CHECK_THAT(step_ms(cluster, state, plan), WithinRel(30 * slowest + 1, 0.001));
}

TEST_CASE("what cannot be put on a topology is refused, and says why") {
  ClusterState state;
  state.topology = on_leaves(4, 2, 1.0);
  const sim::BuiltPlatform small = sim::build_platform(single_gpus(8), state, replicas(8));
  REQUIRE(small.problems.size() == 1);
  CHECK_THAT(small.problems.front().message, ContainsSubstring("has 4 GPUs, the layout needs 8"));

  state.topology = on_leaves(1 << 16, 32, 1.0);
  state.topology->balance = Balance::hashed;
  const sim::BuiltPlatform large =
      sim::build_platform(single_gpus(1 << 16), state, replicas(1 << 16));
  REQUIRE(large.problems.size() == 1);
  CHECK_THAT(large.problems.front().message,
             ContainsSubstring("65536 ranks would be simulated one by one") &&
                 ContainsSubstring("hashed routes tell them apart") &&
                 ContainsSubstring("at most 32768 can be"));
  CHECK_THAT(large.problems.front().help, ContainsSubstring("balance: ideal"));
}

TEST_CASE("a rank that waits for a slow one in a message has its units held meanwhile") {
  // Forward 10 ms, backward 10 ms, a bucket of 1 ms, and 10 ms of backward more. The message holds
  // a quarter of the units of both GPUs, from 20 ms on where the GPU is as fast as others; it moves
  // when the slow one comes, after 1.5 * 20 ms.
  StepPlan plan = payoff::test::pipeline(1, 1, 1, 10_ms, 10_ms);
  plan.layout.dp = 2;
  plan.stages[0].compute =
      std::make_shared<const StageCompute>(payoff::test::compute_of({10_ms}, {10_ms, 10_ms}));
  plan.reserved_share = 0.25;
  payoff::test::add_bucket(plan, 0, 0, 0_s, payoff::test::gradients(10_ms), 0_s);
  const auto ends = [&](double slowdown) {
    ClusterState state;
    state.slow_gpus = {{"", 1, slowdown}};
    const sim::BuiltPlatform built = sim::build_platform(single_gpus(2), state, plan);
    REQUIRE(built.problems.empty());
    const sim::SimulatedStep step = sim::simulate(plan, built.platform);
    REQUIRE(step.place_ends.size() == 2);
    return *std::min_element(step.place_ends.begin(), step.place_ends.end()) / 1_ms;
  };
  // The message ends at 40 ms, when backward, at three quarters of its speed from 20 ms on, is
  // through.
  CHECK_THAT(ends(1.5), WithinRel(40.0, 1e-9));
  // It ends at 31 ms, and leaves what of backward did not fit beside it.
  plan.kinds[0].rounds[0].message.alone = 1_ms;
  CHECK_THAT(ends(1.5), WithinRel(31 + (10 - 0.75 * 11), 1e-6));
  // A slower neighbour makes no GPU faster.
  double before = 0;
  for (const double slowdown : {1.01, 1.1, 1.2, 1.5, 2.0, 3.0}) {
    const double end = ends(slowdown);
    CHECK(end >= before * (1 - 1e-12));
    before = end;
  }
}

TEST_CASE("how little ranks fold is said with what tells them apart") {
  ClusterState state;
  state.slow_gpus = {{"", 3, 1.5}};
  state.jitter = {0.1, 7};
  ParallelLayout layout;
  layout.dp = 8;
  const auto said = [&](std::uint64_t places) {
    sim::FoldReport fold;
    fold.ranks = 8;
    fold.places = places;
    return sim::how_little_folds(fold, state, layout, {});
  };
  CHECK(said(8) == "ranks are not folded: jitter and slow GPUs tell them apart");
  CHECK(said(6) == "8 ranks fold into 6 classes: jitter and slow GPUs tell them apart");
  CHECK(said(4).empty());
  layout.pp = 8;  // a stage of one rank has nothing to fold
  CHECK(said(8).empty());
  layout.schedule = PipelineSchedule::dualpipe;  // four stages, of two ranks each
  CHECK(said(8) == "ranks are not folded: jitter and slow GPUs tell them apart");
}
