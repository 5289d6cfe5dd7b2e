// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <variant>

#include "sim/collective_steps.hpp"
#include "sim/switch_trees.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

// Programs that NCCL does not have: what they are priced at, and what they take on links.

using namespace payoff;
using namespace payoff::sim;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using payoff::sim::test::built;
using payoff::sim::test::fat_tree;
using payoff::sim::test::regular;
using payoff::sim::test::switched;

namespace {

constexpr ProgramRanks ranks{32, 8};  // 4 servers of 8 GPUs, 100 GB/s each, and 8 NICs of 10 GB/s

// Such servers and NICs, with a law.
Cluster priced_cluster() {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.gpus_per_node = 8;
  cluster.fabric.kind = FabricKind::switched;
  cluster.fabric.max_gpus = 8;
  cluster.fabric.per_gpu = 100_GBps;
  cluster.network.kind = NetworkKind::rdma;
  cluster.nics_per_node = 8;
  cluster.nic = 10_GBps;
  for (LinkLaw* law : {&cluster.fabric.law, &cluster.network.law}) {
    law->launch = 5_us;
    law->step_ll = law->step_ll128 = law->step_simple = 2_us;
    law->share_ll = law->share_ll128 = law->share_simple = 0.8;
  }
  return cluster;
}

}  // namespace

TEST_CASE("of programs that NCCL does not have the phases are priced one after the other") {
  const Cluster cluster = priced_cluster();
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  for (const OtherProgram other :
       {OtherProgram::halving_doubling, OtherProgram::hierarchical, OtherProgram::two_shot,
        OtherProgram::bruck, OtherProgram::pxn, OtherProgram::parameter_server,
        OtherProgram::gossip, OtherProgram::sparse_all_gatherv, OtherProgram::packed_trees}) {
    INFO(name(other));
    const LaidOrReason laid = program_of(other, ranks, topology, graph);
    REQUIRE(std::holds_alternative<LaidProgram>(laid));
    const auto& known = std::get<LaidProgram>(laid);
    const auto price = price_of(other, known.program, ranks, cluster, 64_MiB, graph, topology);
    REQUIRE(price);
    const CollectiveSteps steps = run_steps(known, 64_MiB, price, 5_us, graph, topology);
    CHECK_THAT(steps.priced->alone.si, WithinAbs(price->time.si, 2e-12 * known.program.steps()));
    CHECK(steps.priced->time >= steps.priced->alone * (1 - 1e-9));
  }
  // Inside a server all of a GPU's link, between servers an eighth of the buffer over its NIC.
  const auto laid = program_of(OtherProgram::hierarchical, ranks, topology, graph);
  const auto& hierarchical = std::get<LaidProgram>(laid);
  const auto price = price_of(OtherProgram::hierarchical, hierarchical.program, ranks, cluster,
                              64_MiB, graph, topology);
  const auto part = [&](Collective collective, const Group& group, Bytes size) {
    return CollectiveModel(cluster, group)
        .price_pinned(collective, size, Algorithm::ring, Protocol::none)
        ->time;
  };
  const Seconds sum = part(Collective::reduce_scatter, {8, 8, 1}, 64_MiB) +
                      part(Collective::all_reduce, {4, 1, 8}, 8_MiB) +
                      part(Collective::all_gather, {8, 8, 1}, 64_MiB);
  CHECK_THAT(price->time.si, WithinRel(sum.si, 1e-12));
}

TEST_CASE("servers, gossip and sparse parts take what the busiest NIC passes, bare and priced") {
  const Cluster cluster = priced_cluster();
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  struct Asked {
    OtherProgram program{};
    ProgramDetails details;
    double through_nic{};  // of the size, at 10 GB/s
  };
  // Servers: the last server of 8 GPUs sums for the 24 ranks of the others, 3 shards of the size to
  // each, up and down; one GPU alone also for 7 beside it, which pass no NIC. On the ranks: 24 of
  // 32 parts, twice. Gossip: 24 others outside; 8 and 16 ranks on; one of two neighbours. Sparse:
  // of every part of 1/32, or of 4/32, an eighth passes each of 8 rings 31 times, one by one.
  const Asked all[] = {
      {OtherProgram::parameter_server, {8, {}, 1}, 2 * 3},
      {OtherProgram::parameter_server, {1, {}, 1}, 2 * 24},
      {OtherProgram::parameter_server, {}, 2 * 24.0 / 32},
      {OtherProgram::gossip, {0, GossipGraph::complete, 1}, 24},
      {OtherProgram::gossip, {0, GossipGraph::ring, 1}, 1},
      {OtherProgram::sparse_all_gatherv, {}, 31.0 / 32 / 8},
      {OtherProgram::sparse_all_gatherv, {0, {}, 4}, 31 * 4.0 / 32 / 8},
  };
  for (const Asked& asked : all) {
    INFO(name(asked.program) << " " << asked.details.servers << " " << asked.details.imbalance);
    const auto laid =
        std::get<LaidProgram>(program_of(asked.program, ranks, topology, graph, asked.details));
    const auto price =
        price_of(asked.program, laid.program, ranks, cluster, 1_GiB, graph, topology);
    REQUIRE(price);
    const CollectiveSteps steps = run_steps(laid, 1_GiB, price, 5_us, graph, topology);
    const bool sparse = asked.details.imbalance > 1;  // a part meets shorter ones before it
    const Seconds bare = 1_GiB * asked.through_nic / 10_GBps;
    CHECK(steps.alpha_beta <= bare * 1.02);
    CHECK(steps.alpha_beta >= bare * (sparse ? 0.3 : 1.0));
    // The law is 80 % of the line; one server alone is priced as if all came from outside.
    CHECK(steps.priced->price >= bare / 0.8 * 0.99);
    CHECK(steps.priced->price <= bare / 0.8 * (asked.details.servers == 1 ? 1.4 : 1.1));
    CHECK_THAT(steps.priced->time.si, WithinRel(steps.priced->price.si, 1e-6));
  }
  const auto refused = [&](OtherProgram program, const ProgramDetails& details) {
    return std::holds_alternative<std::string>(
        program_of(program, ranks, topology, graph, details));
  };
  CHECK(refused(OtherProgram::parameter_server, {32, {}, 1}));
  CHECK(refused(OtherProgram::sparse_all_gatherv, {0, {}, 33}));
  CHECK(refused(OtherProgram::sparse_all_gatherv, {0, {}, 0.5}));
}

TEST_CASE("sums in the network need a tree of switches, and then pass every link once") {
  Topology topology = regular(switched(8, 8), 4, fat_tree(true, 2, 2, 1));
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const LaidOrReason laid = program_of(OtherProgram::sharp, ranks, topology, graph);
  REQUIRE(std::holds_alternative<LaidProgram>(laid));
  const auto& sharp = std::get<LaidProgram>(laid);
  // Rails: 2 groups of 8 leaves, and 2 spines.
  CHECK(sharp.switches.size() == 18);
  const CollectiveSteps steps = run_steps(sharp, 1_GiB, std::nullopt, 5_us, graph, topology);
  CHECK_FALSE(steps.priced);
  // An eighth of the buffer up and down each NIC of 10 GB/s. Inside, a GPU is in eight chains, and
  // passes an eighth on in seven of them, up and down, at 100 GB/s: that is what takes longest. A
  // ninth more fills the pipe.
  const Seconds chains = 1_GiB * (2 * 7.0 / 8) / 100_GBps;
  CHECK(chains > 1_GiB / 80_GBps);
  CHECK(steps.alpha_beta >= chains);
  CHECK(steps.alpha_beta <= chains * 1.25);
  const Topology torus = test::torus({4, 8});
  const LaidOrReason none = program_of(OtherProgram::sharp, {32, 1}, torus, built(torus));
  CHECK(std::holds_alternative<std::string>(none));
}

// Two servers of two GPUs on one leaf for each rail: nothing has to go through the spines, whose
// links have an eighth of a NIC.
TEST_CASE("sums of servers that share the leaves of their rails are made there") {
  const Topology topology = regular(switched(2, 2), 2, fat_tree(true, 2, 4, 4));
  const SwitchTrees trees = switch_trees(topology, 4);
  const RegularLayout layout(std::get<RegularTopology>(topology.shape));
  CHECK(trees.switches == std::vector<VertexId>{layout.entry(0, 0), layout.entry(0, 1)});
  REQUIRE(trees.above.size() == 2);
  CHECK(trees.above[0][4] == 4);  // places after the ranks: each leaf is the root of its tree
  CHECK(trees.above[1][5] == 5);
}

// No table of measurements has either: their own steps and bytes at the law of rings.
TEST_CASE(
    "sums in switches and packed trees are priced at what rings achieve, and say by how much") {
  const Cluster cluster = priced_cluster();  // 5 us a call, 2 us a step, 0.8 of the links
  Topology topology = regular(switched(8, 8), 4, fat_tree(true, 2, 2, 1));
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const auto priced = [&](OtherProgram program, const ProgramRanks& who, Bytes size,
                          const TopologyGraph& on, const Topology& shape) {
    const auto laid = std::get<LaidProgram>(program_of(program, who, shape, on));
    const auto price = price_of(program, laid.program, who, cluster, size, on, shape);
    REQUIRE(price);
    REQUIRE(price->assumed_sd);
    const CollectiveSteps steps = run_steps(laid, size, price, 5_us, on, shape);
    CHECK_THAT(steps.priced->alone.si, WithinAbs(price->time.si, 2e-12 * laid.program.steps()));
    return *price;
  };
  // SHARP: chains of 8 up and down, and once to the switches and back, which NCCL's own constants
  // have as 30 us where a ring's step has 14. Bytes: 7/8 up and down inside; once through 8 NICs.
  const StepsPrice sharp = priced(OtherProgram::sharp, ranks, 1_GiB, graph, topology);
  const Seconds latency = 5_us + 2_us * (14 + 30.0 / 14);
  const Seconds inside = 1_GiB * (2 * 7.0 / 8) / 80_GBps;
  const Seconds between = 1_GiB / 64_GBps;
  CHECK(sharp.time > latency + std::max(inside, between));
  CHECK_THAT(sharp.time.si, WithinRel((latency + std::max(inside, between)).si, 0.13));  // max6
  CHECK(*sharp.assumed_sd >= 0.5);
  // Trees of one hop on a switch: a ring's bytes, in 2 steps of its 14.
  const Topology server = regular(switched(8, 0), 1, SingleSwitch{});
  const TopologyGraph alone = built(server);
  const StepsPrice trees = priced(OtherProgram::packed_trees, {8, 8}, 1_GiB, alone, server);
  const Seconds ring =
      CollectiveModel(cluster, {8, 8, 1})
          .price_pinned(Collective::all_reduce, 1_GiB, Algorithm::ring, Protocol::simple)
          ->time;
  CHECK_THAT((ring - trees.time).si, WithinRel((2_us * 12).si, 1e-6));
  CHECK_THAT(*trees.assumed_sd, WithinRel(0.25, 1e-9));  // this law has no spread of its own
  // Across servers: up, an exchange between roots there and back, and down.
  const StepsPrice three = priced(OtherProgram::packed_trees, ranks, 1_GiB, graph, topology);
  const Seconds one_way = 5_us + 2_us + 1_GiB * (7.0 / 8) / 80_GBps;
  const Seconds exchange =
      CollectiveModel(cluster, {4, 1, 8}).price(Collective::all_to_all, 1_GiB / 8).time;
  CHECK_THAT(three.time.si, WithinRel((one_way * 2.0 + exchange * 2.0).si, 1e-9));
}

TEST_CASE("on a DGX-1V rings use every link, and packed trees are a sixth slower at most") {
  const Topology topology = regular(test::dgx1(), 1, SingleSwitch{});
  const TopologyGraph graph = built(topology);
  const LaidOrReason laid =
      program_of(Collective::all_reduce, Algorithm::ring, {8, 8}, topology, graph);
  const auto& rings = std::get<LaidProgram>(laid);
  CHECK(rings.program.name() == "rings along links");
  const CollectiveSteps by_rings = run_steps(rings, 1_GiB, std::nullopt, 5_us, graph, topology);
  // Six rings of 25 GB/s, three circles in two directions; 2 (n - 1) / n of the buffer.
  CHECK_THAT(by_rings.alpha_beta.si, WithinRel((1_GiB * (14.0 / 8) / 150_GBps).si, 0.02));
  const LaidOrReason packed = program_of(OtherProgram::packed_trees, {8, 8}, topology, graph);
  const CollectiveSteps by_trees =
      run_steps(std::get<LaidProgram>(packed), 1_GiB, std::nullopt, 5_us, graph, topology);
  // No trees carry more than rings that fill all links; six trees carry 83.3 of their 85.7 GB/s,
  // and the first of eight times as many segments as there are steps has to pass all of these.
  const double rates = (150 / 1.75) / (250 / 3.0);
  CHECK(by_trees.alpha_beta / by_rings.alpha_beta > rates);
  CHECK(by_trees.alpha_beta / by_rings.alpha_beta < rates * 9 / 8);
}
