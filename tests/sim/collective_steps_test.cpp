// SPDX-License-Identifier: Apache-2.0
#include "sim/collective_steps.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <variant>

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

constexpr int ranks = 32;  // 4 servers of 8 GPUs, 100 GB/s each, and 8 NICs of 10 GB/s

CollectivePrice price_of(Bytes size, Bandwidth bandwidth) {
  CollectivePrice price;
  price.algorithm = Algorithm::ring;
  price.latency = 60_us;
  price.time = price.latency + size / bandwidth;
  return price;
}

CollectiveSteps steps_on(const NetworkShape& network, Collective collective, Bytes size,
                         Bandwidth bandwidth) {
  const TopologyGraph graph = built(regular(switched(8, 8), ranks / 8, network));
  Routing routing(graph, Balance::ideal, 1);
  const CollectivePrice price = price_of(size, bandwidth);
  const auto program = program_of(collective, price.algorithm, ranks, graph);
  REQUIRE(std::holds_alternative<Program>(program));
  return run_steps(std::get<Program>(program), size, price, routing);
}

}  // namespace

TEST_CASE("on links that are wide enough, sends take the price of their collective") {
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
    for (const Bytes size : {64_KiB, 16_MiB, 1_GiB}) {
      // Eight rings of 80 GB/s together; a tenth is lost to the protocol.
      const double sent = (collective == Collective::all_reduce ? 2 : 1) * 31.0 / 32;
      const Bandwidth bandwidth = 72_GBps / sent;
      const CollectiveSteps steps = steps_on(SingleSwitch{}, collective, size, bandwidth);
      const Seconds price = price_of(size, bandwidth).time;
      INFO(name(collective) << " of " << size.si);
      CHECK_THAT(steps.alone.si, WithinAbs(price.si, 2e-12 * 62));
      CHECK_THAT(steps.time.si, WithinAbs(price.si, 2e-12 * 62));
      CHECK(steps.sends == (collective == Collective::all_reduce ? 62 : 31) * 32 * 8);
    }
  }
}

TEST_CASE("rings on rails use every NIC alike, so the alpha-beta answer is that of all NICs") {
  const Bytes size = 1_GiB;
  const CollectiveSteps steps = steps_on(SingleSwitch{}, Collective::all_reduce, size, 30_GBps);
  CHECK_THAT(steps.alpha_beta.si, WithinRel((size * (2 * 31.0 / 32) / 80_GBps).si, 0.02));
}

TEST_CASE("an uplink that is too narrow makes the sends as late as it is narrow") {
  // Two leaves: of 16 rings' crossings, 8 leave each leaf, through an uplink for 16 NICs / ratio.
  const Bytes size = 1_GiB;
  const Bandwidth full = 80_GBps / (2 * 31.0 / 32);
  const double alone = steps_on(SingleSwitch{}, Collective::all_reduce, size, full).time / 1_ms;
  std::printf("steps of an all-reduce on 4 servers, oversubscribed by");
  for (const double ratio : {1.0, 2.0, 4.0, 8.0}) {
    const double time =
        steps_on(fat_tree(false, 2, 2, ratio), Collective::all_reduce, size, full).time / 1_ms;
    std::printf(" %g: %.3f of the price;", ratio, time / alone);
    // 8 flows of 10 GB/s want 80 GB/s; the uplinks of a leaf have 160 GB/s over the ratio.
    CHECK_THAT(time / alone, WithinRel(std::max(1.0, ratio / 2), 0.02));
  }
  std::printf("\n");
}

TEST_CASE("what is no program says why") {
  const TopologyGraph graph = built(regular(switched(8, 8), 4, SingleSwitch{}));
  const auto reason = [&](Collective collective, Algorithm algorithm, int count) {
    const auto program = program_of(collective, algorithm, count, graph);
    return std::holds_alternative<std::string>(program) ? std::get<std::string>(program) : "";
  };
  CHECK(reason(Collective::all_reduce, Algorithm::ring, 32).empty());
  CHECK(reason(Collective::all_to_all, Algorithm::pairwise, 32).empty());
  CHECK_FALSE(reason(Collective::all_reduce, Algorithm::nvls, 32).empty());
  CHECK_FALSE(reason(Collective::broadcast, Algorithm::ring, 32).empty());
  CHECK_FALSE(reason(Collective::all_reduce, Algorithm::ring, 16).empty());
}
