// SPDX-License-Identifier: Apache-2.0
#include "model/interference.hpp"

#include <algorithm>
#include <cmath>

#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

TEST_CASE(
    "a product of 132 blocks beside an all-gather of 24 takes twice as long, not 1.22 times") {
  // H100, 132 units: one full wave alone; 108 units leave 24 blocks for a second wave. NVIDIA
  // developer forum 337991 reports that it "nearly doubles".
  CHECK(waves(132, 132) == 1);
  CHECK(waves(132, 132 - 24) == 2);
  CHECK_THAT(1 / kernel_rate(132, 132, 24), WithinRel(2.0, 1e-12));
}

TEST_CASE("a kernel that leaves as many units idle as a message holds is not slowed") {
  CHECK(kernel_rate(108, 132, 24) == 1.0);
  CHECK(kernel_rate(1, 132, 131) == 1.0);
}

TEST_CASE("many waves average to the share of the units left") {
  // 10,000 waves on 132 units: the last, partial wave no longer matters.
  CHECK_THAT(kernel_rate(1'320'000, 132, 24), WithinRel(108.0 / 132.0, 1e-4));
  CHECK(stream_rates(true, false, 24.0 / 132.0).compute == 1.0 - 24.0 / 132.0);
}

TEST_CASE("waves beside a message slow a kernel by 1 to 2 where it holds up to half of the units") {
  const int reserved = GENERATE(1, 8, 24, 66);
  const std::int64_t blocks = GENERATE(1, 65, 66, 67, 131, 132, 133, 500, 1056, 9999);
  const double slowdown = 1 / kernel_rate(blocks, 132, reserved);
  CHECK(slowdown >= 1.0);
  CHECK(slowdown <= 2.0);
}

TEST_CASE("two streams of many kernels conserve work: together they do what one would") {
  const StreamRates together = stream_rates(true, true, 0.2);
  CHECK(together.compute + together.codec == stream_rates(true, false, 0.2).compute);
}

TEST_CASE("backward beside NCCL on V100 is slowed by what was observed, or a little less") {
  // Agarwal et al. 2022 (p3.8xlarge, 16 nodes of 4 V100, 10 Gb/s): backward takes 1.04 to 1.1 times
  // as long beside all-reduces. Inside a node NCCL takes the channels that fill the NVLinks, which
  // gives the range; between nodes it has two for the NIC, and the law stays below.
  Cluster p3 = test::pcie_v100();
  p3.gpu.compute_units = 80;
  p3.fabric.kind = FabricKind::full_mesh;
  p3.fabric.generation = LinkGeneration::nvlink2;
  p3.fabric.per_gpu = 75_GBps;
  p3.fabric.pair = 25_GBps;
  p3.network.kind = NetworkKind::tcp;
  p3.network.gpudirect = false;
  p3.nic = 10_Gbps;
  const auto slowdown = [&](const Group& group) {
    const CollectivePrice price = CollectiveModel(p3, group).price(Collective::all_reduce, 25_MiB);
    return 1 / stream_rates(true, false, reserved_share(price.channels, 80)).compute;
  };
  const double between_nodes = slowdown({64, 4, 1});
  const double inside = slowdown({4, 4, 1});
  CHECK(between_nodes > 1.02);
  CHECK(between_nodes < 1.04);
  CHECK(inside > 1.04);
  CHECK(inside < 1.1);
}

TEST_CASE("the slow-down of a pair that nobody measured lies between 1 and 2 around the law's") {
  const double by_law = GENERATE(1.0, 1.1, 1.22, 2.0);
  CHECK(unmeasured_slowdown(by_law, 0.0) == 1.0);
  CHECK_THAT(unmeasured_slowdown(by_law, 0.5), WithinRel(by_law, 1e-15));
  CHECK(unmeasured_slowdown(by_law, 1.0) == 2.0);
  for (double quantile = 0.0; quantile < 1.0; quantile += 0.0625) {
    CHECK(unmeasured_slowdown(by_law, quantile) <= unmeasured_slowdown(by_law, quantile + 0.0625));
  }
}

TEST_CASE("what was measured of a pair takes the place of the prior") {
  const PairLaw measured{0.5, 0.1, true};
  CHECK_THAT(pair_slowdown(measured, 2.0, 0.5), WithinRel(1.5, 1e-12));
  CHECK_THAT(pair_slowdown(measured, 1.2, 0.5), WithinRel(1.1, 1e-12));
  CHECK(pair_slowdown({}, 2.0, 0.25) == unmeasured_slowdown(2.0, 0.25));
  // Drawn evenly: over all quantiles the standard deviation is the spread's.
  constexpr int draws = 1000;
  double squares = 0.0;
  for (int i = 0; i < draws; ++i) {
    const double share = pair_slowdown(measured, 2.0, (i + 0.5) / draws) - 1.0;
    squares += (share - 0.5) * (share - 0.5) / draws;
  }
  CHECK_THAT(std::sqrt(squares), WithinRel(0.1, 1e-3));
  // Never faster than alone, never beyond what bounds rest on.
  CHECK(pair_slowdown({0.1, 0.5, true}, 2.0, 0.0) == 1.0);
  CHECK(pair_slowdown({1.5, 0.1, true}, 2.0, 0.5) == most_slowdown);
}

TEST_CASE("measured pairs slow streams by their own share, and the others by the prior") {
  PairPrior pairs;
  pairs.laws.compute_beside_codec = {0.5, 0.0, true};
  pairs.laws.codec_beside_message = {0.0, 0.0, true};
  const StreamRates rates = stream_rates(true, true, 0.2, pairs);
  CHECK_THAT(rates.compute, WithinRel(0.8 / 1.5, 1e-12));
  CHECK_THAT(rates.codec, WithinRel(0.5, 1e-12));
}

TEST_CASE("a codec that runs alone is not slowed, whatever the prior says of pairs") {
  CHECK(stream_rates(false, true, 0.0, {1.0}).codec == 1.0);
  CHECK(stream_rates(true, false, 0.0, {1.0}).compute == 1.0);
  // Backward beside a message has been measured.
  CHECK(stream_rates(true, false, 0.2, {1.0}).compute == stream_rates(true, false, 0.2).compute);
}

TEST_CASE("a codec on its side stream gets the tail of compute beside its own turn, no more") {
  // Compute on all units leaves a fifth of them idle in its last waves: a turn of a half each, and
  // a fifth of the other half. No unit is used twice, none that could be used is not.
  constexpr double idle = 0.2;
  const StreamRates rates = stream_rates(true, true, 0.0, {0.5}, 1.0, idle);
  CHECK_THAT(rates.compute, WithinRel(0.5, 1e-12));
  CHECK_THAT(rates.codec, WithinRel(0.5 + 0.5 * idle, 1e-12));
  CHECK_THAT(rates.compute * (1 - idle) + rates.codec, WithinRel(1.0, 1e-12));
  // Beside a message both have the rest of the units.
  const StreamRates beside = stream_rates(true, true, 0.25, {0.5}, 0.75, idle);
  CHECK_THAT(beside.compute, WithinRel(0.75 * rates.compute, 1e-12));
  CHECK_THAT(beside.codec, WithinRel(0.75 * rates.codec, 1e-12));
}

TEST_CASE("priorities decide who goes first, at equal ones streams alternate") {
  constexpr double idle = 0.2;
  const auto rates = [](StreamTurns turns) {
    return stream_rates(true, true, 0.0, {0.5}, 1.0, idle, turns);
  };
  // Of lower priority: backward is as fast as alone, the codec has its tails.
  CHECK(rates(StreamTurns::codec_last).compute == 1.0);
  CHECK(rates(StreamTurns::codec_last).codec == idle);
  // Of higher priority: the codec is as fast as alone.
  CHECK(rates(StreamTurns::codec_first).codec == 1.0);
  CHECK(rates(StreamTurns::codec_first).compute < 0.01);
  // Neither matters to a stream that has nothing beside it.
  for (const StreamTurns turns : {StreamTurns::codec_last, StreamTurns::codec_first}) {
    CHECK(stream_rates(false, true, 0.1, {0.5}, 0.9, 0.0, turns).codec ==
          stream_rates(false, true, 0.1, {0.5}, 0.9, 0.0).codec);
    CHECK(stream_rates(true, false, 0.1, {0.5}, 0.9, 0.0, turns).compute == 0.9);
  }
}

TEST_CASE("compute, a codec and a message stay within the memory at every quantile of the prior") {
  // Everything that the law takes, over a grid with both ends of each.
  const double quantile = GENERATE(0.0, 0.1, 0.25, 0.5, 0.75, 1.0);
  const double held = GENERATE(0.0, 0.1, 0.5);
  const double idle = GENERATE(0.0, 0.3, 0.9);
  const StreamTurns turns =
      GENERATE(StreamTurns::alternate, StreamTurns::codec_last, StreamTurns::codec_first);
  constexpr double tenths[] = {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0};
  for (const double compute : tenths) {
    for (const double codec : tenths) {
      for (const double message : tenths) {
        const double asked = held > 0 ? message : 0.0;
        for (const double pace : {1.0 - held, 1.0}) {  // of kernels that need all units, or few
          const double room = memory_room(asked, held);
          const StreamRates law = stream_rates(true, true, held, {quantile}, pace, idle, turns);
          const StreamRates rates = within_memory(law, compute, codec, room, idle);
          const double work = rates.compute * compute + rates.codec * codec;
          const double sent = asked * message_rate(work, asked, held);
          INFO(compute << " " << codec << " " << asked << " " << pace);
          CHECK(work + sent <= 1 + 1e-9);
          CHECK(sent >= std::min(asked, held) - 1e-12);
          // Nobody is faster than the units allow, and slower only where the memory is full.
          CHECK(rates.compute <= law.compute);
          CHECK(rates.codec <= law.codec);
          const bool slowed = rates.compute < law.compute || rates.codec < law.codec;
          CHECK((!slowed || work >= room - 1e-9));
          CHECK(rates.compute > 0);
          CHECK(rates.codec > 0);
        }
      }
    }
  }
}

TEST_CASE("of a full memory each stream gets what its units weigh, or what it asks for") {
  // As if nothing else slowed them: both ask for all of it, and have half of the units each.
  const StreamRates equal = within_memory({1.0, 1.0}, 1.0, 1.0, 1.0, 0.0);
  CHECK(equal.compute == 0.5);
  CHECK(equal.codec == 0.5);
  // Compute asks for 0.2: a codec that streams has the rest.
  const StreamRates rest = within_memory({1.0, 1.0}, 0.2, 1.0, 1.0, 0.0);
  CHECK(rest.compute == 1.0);
  CHECK_THAT(rest.codec, WithinRel(0.8, 1e-12));
  // Alone beside a message that keeps a tenth, the other one not there.
  CHECK_THAT(within_memory({0.0, 1.0}, 0.0, 1.0, 0.9, 0.0).codec, WithinRel(0.9, 1e-12));
  CHECK(within_memory({0.5, 0.5}, 1.0, 1.0, 1.0, 0.0).compute == 0.5);
}

TEST_CASE("memory is max-min by units: a message gets what it asks for up to what they weigh") {
  // 24 of 132 units. Work on the others that only streams asks for 108/132 of the memory.
  const double reserved = 24.0 / 132.0;
  CHECK(message_rate(1 - reserved, reserved, reserved) == 1.0);
  CHECK_THAT(message_rate(1 - reserved, 2 * reserved, reserved), WithinRel(0.5, 1e-12));
  // Work that leaves half of the memory: a message that asks for 60 % of it gets 50.
  CHECK_THAT(message_rate(0.5, 0.6, reserved), WithinRel(0.5 / 0.6, 1e-12));
  CHECK(message_rate(0.4, 0.6, reserved) == 1.0);
  // Never more than there is, and never less to the message than its units weigh.
  for (double work = 0; work <= 1 - reserved; work += 0.05) {
    for (double share = 0.05; share <= 1; share += 0.05) {
      const double got = share * message_rate(work, share, reserved);
      CHECK(work + got <= 1 + 1e-12);
      CHECK(got >= std::min(share, reserved) - 1e-12);
    }
  }
}
