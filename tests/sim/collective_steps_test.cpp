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

TEST_CASE("a group on part of a topology is laid on the servers that its GPUs are in") {
  Topology topology = regular(switched(8, 8), 4, SingleSwitch{});
  topology.balance = Balance::ideal;
  const TopologyGraph graph = built(topology);
  const auto part = [&](std::vector<Rank> members) { return part_of(graph, members); };
  const auto gpus = [&](std::vector<Rank> members) {
    return ranks_of_part(topology, part(std::move(members)).gpu_of_rank, 8).gpus;
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
  CHECK(reason(program_of(OtherProgram::packed_trees, ranks, topology, graph)).empty());
  const Topology torus = test::torus({4, 8});
  CHECK_FALSE(reason(program_of(OtherProgram::packed_trees, {32, 1}, torus, built(torus))).empty());
  ProgramDetails broadcast;  // has three phases nowhere
  broadcast.collective = Collective::broadcast;
  CHECK_FALSE(
      reason(program_of(OtherProgram::packed_trees, ranks, topology, graph, broadcast)).empty());
  const Topology odd = regular(switched(3, 3), 1, SingleSwitch{});
  CHECK_FALSE(reason(program_of(OtherProgram::halving_doubling, {3, 3}, odd, built(odd))).empty());
}
