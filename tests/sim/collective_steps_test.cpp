// SPDX-License-Identifier: Apache-2.0
#include "sim/collective_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <variant>

#include "model/group_paths.hpp"
#include "sim/routing.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

// Where a collective as one activity and as sends agree, and by how much they differ elsewhere.

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

struct Case {
  Collective collective{};
  Algorithm algorithm{};
  double busiest{};     // of the size, that a GPU sends
  Bandwidth of_rank{};  // that carries it
};

// With what the busiest link of each is: 8 NICs of 10 GB/s for all that passes servers.
const Case cases[] = {
    {Collective::all_reduce, Algorithm::ring, 2 * 31.0 / 32, 80_GBps},
    {Collective::all_gather, Algorithm::ring, 31.0 / 32, 80_GBps},
    {Collective::reduce_scatter, Algorithm::ring, 31.0 / 32, 80_GBps},
    {Collective::broadcast, Algorithm::ring, 1, 80_GBps},
    {Collective::reduce, Algorithm::ring, 1, 80_GBps},
    {Collective::all_reduce, Algorithm::tree, 2, 80_GBps},
    {Collective::all_reduce, Algorithm::nvls_tree, 2, 80_GBps},
    {Collective::all_to_all, Algorithm::pairwise, 24.0 / 32, 10_GBps},
};

CollectivePrice price_at(const Case& c, Bytes size, double efficiency) {
  CollectivePrice price;
  price.algorithm = c.algorithm;
  price.latency = 60_us;
  price.time = price.latency + size * c.busiest / (c.of_rank * efficiency);
  return price;
}

CollectiveSteps steps_on(const NetworkShape& network, const Case& c, Bytes size,
                         double efficiency) {
  Topology topology = regular(switched(8, 8), 4, network);
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const LaidOrReason laid = program_of(c.collective, c.algorithm, ranks, topology, graph);
  INFO(name(c.collective) << " by " << name(c.algorithm));
  REQUIRE(std::holds_alternative<LaidProgram>(laid));
  const auto& known = std::get<LaidProgram>(laid);
  const CollectivePrice price = price_at(c, size, efficiency);
  return run_steps(known, size, price_of(known.program, price, size), 5_us, graph, topology);
}

// Servers and NICs as above, with a law.
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

TEST_CASE("on links that are wide enough, sends take the price of their collective") {
  for (const Case& c : cases) {
    for (const Bytes size : {64_KiB, 16_MiB, 1_GiB}) {
      // Protocol and pipelines lose a third.
      const CollectiveSteps steps = steps_on(SingleSwitch{}, c, size, 2.0 / 3);
      const Seconds price = price_at(c, size, 2.0 / 3).time;
      INFO(name(c.collective) << " by " << name(c.algorithm) << " of " << size.si);
      REQUIRE(steps.priced);
      // A tick for the latency and one for the transfer of every step.
      const double ticks = 2e-12 * 2000;
      CHECK_THAT(steps.priced->alone.si, WithinAbs(price.si, ticks));
      CHECK_THAT(steps.priced->time.si, WithinAbs(price.si, ticks));
    }
  }
}

TEST_CASE("rings on rails use every NIC alike, so the alpha-beta answer is that of all NICs") {
  const Case& ring = cases[0];
  const CollectiveSteps steps = steps_on(SingleSwitch{}, ring, 1_GiB, 0.4);
  CHECK_THAT(steps.alpha_beta.si, WithinRel((1_GiB * ring.busiest / ring.of_rank).si, 0.02));
}

TEST_CASE("an uplink that is too narrow makes the sends as late as it is narrow") {
  // Two servers a leaf. Per leaf, of what passes its 16 NICs of 10 GB/s at the price's rate: half
  // of a ring and of a chain, as one of its two servers sends to the other leaf; of pairs two
  // thirds, as two of the three other servers are there. The uplinks carry all 16 over the ratio.
  std::printf("steps in prices, by the oversubscription of the leaves (2, 4, 8):\n");
  for (const Case& c : cases) {
    const double crossing = c.algorithm == Algorithm::pairwise ? 2.0 / 3 : 0.5;
    const bool is_ring = c.algorithm == Algorithm::ring;
    std::printf("  %-14s %-9s", std::string(name(c.collective)).c_str(),
                std::string(name(c.algorithm)).c_str());
    for (const double ratio : {2.0, 4.0, 8.0}) {
      constexpr double efficiency = 0.8;
      const CollectiveSteps steps = steps_on(fat_tree(false, 2, 2, ratio), c, 1_GiB, efficiency);
      const double late = steps.priced->time / steps.priced->price;
      std::printf(" %.3f", late);
      INFO(name(c.collective) << " by " << name(c.algorithm) << ", " << ratio);
      CHECK(late >= 1 - 1e-6);
      CHECK(late <= ratio * 1.01);
      if (is_ring) {
        CHECK_THAT(late, WithinRel(std::max(1.0, crossing * ratio * efficiency), 0.26));
      }
    }
    std::printf("\n");
  }
}

TEST_CASE(
    "traffic of others takes its share of the links of a collective, and of its bare answer") {
  // A ring on rails fills its NICs: with half of them left, both answers take twice as long.
  const Case& ring = cases[0];
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const auto laid =
      std::get<LaidProgram>(program_of(ring.collective, ring.algorithm, ranks, topology, graph));
  const StepsPrice price = price_of(laid.program, price_at(ring, 1_GiB, 1.0), 1_GiB);
  const auto run = [&] { return run_steps(laid, 1_GiB, price, 5_us, graph, topology); };
  const CollectiveSteps alone = run();
  topology.background[static_cast<std::size_t>(BackgroundClass::nic)] = {0.5, 0.0};
  const CollectiveSteps half = run();
  CHECK_THAT(half.priced->alone.si, WithinRel(alone.priced->alone.si, 1e-12));
  CHECK_THAT((half.priced->time - price.phases[0].price.latency * 62).si,
             WithinRel(2 * (1_GiB * ring.busiest / ring.of_rank).si, 1e-6));
  CHECK_THAT(half.alpha_beta / alone.alpha_beta, WithinRel(2.0, 0.02));
  // Where it differs from link to link the narrowest one decides, and the same seed draws the same.
  topology.background[static_cast<std::size_t>(BackgroundClass::nic)] = {0.5, 0.1};
  const CollectiveSteps drawn = run();
  CHECK(drawn.priced->time > half.priced->time);
  CHECK(drawn.priced->time.si == run().priced->time.si);
  topology.seed = 2;
  CHECK(drawn.priced->time.si != run().priced->time.si);
}

TEST_CASE("of programs that NCCL does not have the phases are priced one after the other") {
  const Cluster cluster = priced_cluster();
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  for (const OtherProgram other :
       {OtherProgram::halving_doubling, OtherProgram::hierarchical, OtherProgram::two_shot,
        OtherProgram::bruck, OtherProgram::pxn, OtherProgram::parameter_server,
        OtherProgram::gossip, OtherProgram::sparse_all_gatherv}) {
    INFO(name(other));
    const LaidOrReason laid = program_of(other, ranks, topology, graph);
    REQUIRE(std::holds_alternative<LaidProgram>(laid));
    const auto& known = std::get<LaidProgram>(laid);
    const auto price = price_of(other, known.program, ranks, cluster, 64_MiB);
    REQUIRE(price);
    const CollectiveSteps steps = run_steps(known, 64_MiB, price, 5_us, graph, topology);
    CHECK_THAT(steps.priced->alone.si, WithinAbs(price->time.si, 2e-12 * known.program.steps()));
    CHECK(steps.priced->time >= steps.priced->alone * (1 - 1e-9));
  }
  // Inside a server all of a GPU's link, between servers an eighth of the buffer over its NIC.
  const auto laid = program_of(OtherProgram::hierarchical, ranks, topology, graph);
  const auto& hierarchical = std::get<LaidProgram>(laid);
  const auto price =
      price_of(OtherProgram::hierarchical, hierarchical.program, ranks, cluster, 64_MiB);
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
    const auto price = price_of(asked.program, laid.program, ranks, cluster, 1_GiB);
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

TEST_CASE("a group on part of a topology is laid on the servers that its GPUs are in") {
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const auto part = [&](std::vector<Rank> members) { return part_of(graph, members); };
  const auto gpus = [&](std::vector<Rank> members) {
    return ranks_of_part(topology, part(std::move(members)), 8).gpus;
  };
  CHECK(gpus({8, 9, 10, 24, 25, 26}) == 3);
  CHECK(gpus({3, 11, 19}) == 1);
  CHECK(gpus({0, 1, 2, 3}) == 4);
  CHECK(gpus({0, 1, 2, 8}) == 1);        // not as many of each
  CHECK(gpus({0, 1, 8, 9, 2, 3}) == 1);  // a server twice
  const TopologyGraph two = part({8, 9, 10, 11, 24, 25, 26, 27});
  const ProgramRanks half{8, 4};
  const auto laid = std::get<LaidProgram>(
      program_of(Collective::all_reduce, Algorithm::nvls_tree, half, topology, two));
  const RegularLayout layout(std::get<RegularTopology>(topology.shape));
  CHECK(laid.switches == std::vector<VertexId>{layout.fabric_switch(1), layout.fabric_switch(3)});
  const CollectivePrice price =
      price_at({Collective::all_reduce, Algorithm::nvls_tree, 2, 40_GBps}, 1_GiB, 2.0 / 3);
  const CollectiveSteps steps =
      run_steps(laid, 1_GiB, price_of(laid.program, price, 1_GiB), 5_us, two, topology);
  CHECK_THAT(steps.priced->time.si, WithinRel(price.time.si, 1e-6));
  // Nobody laid SHARP's trees through some of the GPUs.
  CHECK(std::holds_alternative<std::string>(program_of(
      OtherProgram::sharp, half, regular(switched(8, 8), 4, fat_tree(true, 2, 2, 1)), two)));
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

TEST_CASE("on a DGX-1V rings follow the links, and packed trees are as fast as they") {
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
  CHECK(by_trees.alpha_beta / by_rings.alpha_beta < 1.5);
}

TEST_CASE("what is no program says why") {
  const Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  const TopologyGraph graph = built(topology);
  const auto reason = [&](const LaidOrReason& laid) {
    return std::holds_alternative<std::string>(laid) ? std::get<std::string>(laid) : "";
  };
  const auto by = [&](Collective collective, Algorithm algorithm, ProgramRanks who) {
    return reason(program_of(collective, algorithm, who, topology, graph));
  };
  CHECK(by(Collective::all_reduce, Algorithm::ring, ranks).empty());
  CHECK(by(Collective::all_reduce, Algorithm::nvls_tree, ranks).empty());
  CHECK_FALSE(by(Collective::send_recv, Algorithm::direct, ranks).empty());
  CHECK_FALSE(by(Collective::all_reduce, Algorithm::ring, {16, 8}).empty());
  CHECK_FALSE(reason(program_of(OtherProgram::packed_trees, ranks, topology, graph)).empty());
  const Topology odd = regular(switched(3, 3), 1, SingleSwitch{});
  CHECK_FALSE(reason(program_of(OtherProgram::halving_doubling, {3, 3}, odd, built(odd))).empty());
}
