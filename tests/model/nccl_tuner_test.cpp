// SPDX-License-Identifier: Apache-2.0
#include "model/nccl_tuner.hpp"

#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

NcclTuner tuner(const Cluster& cluster, int nodes, NcclRelease release = newest_nccl) {
  const Group group{nodes * cluster.gpus_per_node, cluster.gpus_per_node, 1};
  return {cluster, paths_of(cluster, group), release};
}

NcclChoice choice(const NcclTuner& of, Bytes size, Collective collective = Collective::all_reduce) {
  return of.choose(collective, size);
}

}  // namespace

TEST_CASE("NCCL's tree estimate for 8 bytes is 15.2 us on one node of 8 and 25.2 us on two") {
  // 6.8 + 2 (7 x 0.6 + 5 log2 N): base, chain inside, tree between.
  const Cluster cluster = dgx_h100();
  const auto one =
      tuner(cluster, 1).estimate(Collective::all_reduce, 8_B, Algorithm::tree, Protocol::ll);
  const auto two =
      tuner(cluster, 2).estimate(Collective::all_reduce, 8_B, Algorithm::tree, Protocol::ll);
  CHECK_THAT(one.value() / 1_us, WithinAbs(15.2, 0.01));
  CHECK_THAT(two.value() / 1_us, WithinAbs(25.2, 0.01));
}

TEST_CASE("NCCL reduces long messages in the switch of 8 H100, short ones by LL") {
  const NcclTuner one = tuner(dgx_h100(), 1);
  CHECK(choice(one, 1_GiB).algorithm == Algorithm::nvls);
  CHECK(choice(one, 1_GiB).channels == 16);  // "16 nvls channels" in the logs of p5
  CHECK(choice(one, 1_KiB).protocol == Protocol::ll);
  const NcclTuner two = tuner(dgx_h100(), 2);
  CHECK(choice(two, 1_GiB).algorithm == Algorithm::nvls_tree);
  CHECK(choice(two, 1_KiB).algorithm == Algorithm::tree);
}

TEST_CASE("all-gather and reduce-scatter stay rings where all-reduce uses the switch") {
  const NcclTuner one = tuner(dgx_h100(), 1);
  CHECK(choice(one, 1_GiB, Collective::all_gather).algorithm == Algorithm::ring);
  CHECK(choice(one, 1_GiB, Collective::reduce_scatter).algorithm == Algorithm::ring);
}

TEST_CASE("nothing reduces in the switch before Hopper, or before NCCL 2.18") {
  CHECK(choice(tuner(dgx_a100(), 1), 1_GiB).algorithm == Algorithm::ring);
  CHECK(choice(tuner(dgx_h100(), 1, NcclRelease::v2_12), 1_GiB).algorithm == Algorithm::ring);
  CHECK_FALSE(tuner(dgx_a100(), 1).has(Collective::all_reduce, Algorithm::nvls, Protocol::simple));
}

TEST_CASE("LL128 needs NVLink between the GPUs of a node") {
  CHECK(tuner(dgx_a100(), 1).has(Collective::all_reduce, Algorithm::ring, Protocol::ll128));
  CHECK_FALSE(tuner(pcie_v100(), 1).has(Collective::all_reduce, Algorithm::ring, Protocol::ll128));
}

TEST_CASE("bus bandwidths of NCCL's estimates are channels times speed of its search") {
  // 12 channels of 20 GB/s on 8 A100, 12 of 30 on 8 H100 (no NVLS in a ring), 1 of 12 over PCIe 3,
  // 8 of 24 over 8 HDR NICs. Ring, Simple: time per byte = 2 (n-1)/n / bus.
  const auto bus = [](const Cluster& cluster, int nodes) {
    const NcclTuner of = tuner(cluster, nodes);
    const auto at = [&](Bytes size) {
      return *of.estimate(Collective::all_reduce, size, Algorithm::ring, Protocol::simple);
    };
    const double n = nodes * cluster.gpus_per_node;
    return (1_GB / (at(3_GB) - at(2_GB))) / 1_GBps * 2 * (n - 1) / n;
  };
  CHECK_THAT(bus(dgx_a100(), 1), WithinRel(240.0, 1e-6));
  CHECK_THAT(bus(dgx_h100(), 1), WithinRel(360.0, 1e-6));
  CHECK_THAT(bus(pcie_v100(), 1), WithinRel(12.0, 1e-3));
  CHECK_THAT(bus(dgx_a100(), 4), WithinRel(192.0, 1e-6));
}

TEST_CASE("a network plug-in's latency counts once for every hop of LL and twice for Simple") {
  Cluster cluster = dgx_h100();
  const auto tree = [&](Protocol protocol) {
    return *tuner(cluster, 4).estimate(Collective::all_reduce, 8_B, Algorithm::tree, protocol);
  };
  const Seconds ll = tree(Protocol::ll);
  const Seconds simple = tree(Protocol::simple);
  cluster.network.tuner_latency = 75_us;
  // 2 log2(4) hops.
  CHECK_THAT((tree(Protocol::ll) - ll) / 1_us, WithinAbs(300, 1e-6));
  CHECK_THAT((tree(Protocol::simple) - simple) / 1_us, WithinAbs(600, 1e-6));
}

TEST_CASE("the choice is the smallest estimate") {
  for (const int nodes : {1, 2, 4, 32}) {
    const NcclTuner of = tuner(dgx_h100(), nodes);
    for (Bytes size = 8_B; size <= 8_GiB; size *= 4) {
      const NcclChoice best = choice(of, size);
      const auto shortest =
          of.estimate(Collective::all_reduce, size, best.algorithm, best.protocol).value();
      for (int a = 0; a < algorithm_count; ++a) {
        for (const Protocol p : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
          const auto other =
              of.estimate(Collective::all_reduce, size, static_cast<Algorithm>(a), p);
          CHECK((!other || shortest <= *other));
        }
      }
    }
  }
}

TEST_CASE("a message of 32 KiB on 8 A100 holds one channel, a long one all 24") {
  const NcclTuner of = tuner(dgx_a100(), 1);
  CHECK(choice(of, 32_KiB).channels == 1);
  CHECK(choice(of, 1_GiB).channels == 24);
}

TEST_CASE("a send to another node has a channel for each 14 GB/s of the GPU's NICs") {
  // NVIDIA/nccl at 5067397, src/graph/paths.cc, ncclTopoGetNchannels: the next power of two of
  // ceil(GB/s / 14), with 12 GB/s for 100 Gb/s. Two ranks of an H100 node each: 48 GB/s.
  const auto channels = [](const Cluster& cluster, Bytes size) {
    const NcclTuner of{cluster, paths_of(cluster, {2, 1, 8}), newest_nccl};
    return choice(of, size, Collective::send_recv).channels;
  };
  CHECK(channels(dgx_h100(), 64_MiB) == 4);
  CHECK(channels(dgx_a100(), 64_MiB) == 2);
  CHECK(channels(pcie_v100(), 64_MiB) == 1);
  // src/enqueue.cc, addP2pToPlan: a part has 256 KiB at least.
  CHECK(channels(dgx_h100(), 256_KiB) == 1);
  CHECK(channels(dgx_h100(), 512_KiB) <= 2);
}

TEST_CASE("sends between nodes are Simple however short; inside a node short ones are LL") {
  for (const Collective collective : {Collective::send_recv, Collective::all_to_all}) {
    CHECK(choice(tuner(dgx_h100(), 1), 1_KiB, collective).protocol == Protocol::ll);
    CHECK(choice(tuner(dgx_h100(), 2), 1_KiB, collective).protocol == Protocol::simple);
    CHECK(choice(tuner(dgx_h100(), 1), 64_MiB, collective).protocol == Protocol::simple);
    CHECK_FALSE(tuner(dgx_h100(), 2).has(collective, Algorithm::direct, Protocol::ll));
    CHECK_FALSE(tuner(dgx_h100(), 2).has(collective, Algorithm::pairwise, Protocol::ll));
  }
}

TEST_CASE(
    "a gather takes half as many steps around a ring as an all-reduce, in bytes and in time") {
  // Ring, LL: the all-reduce is a reduce-scatter and a gather, n - 1 steps each.
  for (const int nodes : {1, 2, 4}) {
    const NcclTuner of = tuner(dgx_a100(), nodes);
    const auto at = [&](Collective collective, Bytes size) {
      return *of.estimate(collective, size, Algorithm::ring, Protocol::simple);
    };
    for (const Collective half : {Collective::all_gather, Collective::reduce_scatter}) {
      CHECK_THAT((at(Collective::all_reduce, 3_GB) - at(Collective::all_reduce, 2_GB)) /
                     (at(half, 3_GB) - at(half, 2_GB)),
                 WithinRel(2.0, 1e-9));
    }
  }
}

TEST_CASE("a Simple ring between nodes costs more from 64 bytes a rank and channel on") {
  // NVIDIA/nccl, src/graph/tuning.cc, ncclTopoGetAlgoTime: "Plateau effect of ring", latency x 1.4
  // where nBytes / (nChannels x nRanks) >= 64.
  const NcclTuner of = tuner(dgx_a100(), 4);
  const double threshold = 64.0 * of.most_channels() * 32;
  const auto at = [&](double bytes) {
    return *of.estimate(Collective::all_reduce, bytes * 1_B, Algorithm::ring, Protocol::simple) /
           1_us;
  };
  const double wire = at(threshold + 4096) - at(threshold);
  const double before = at(threshold - 1);
  CHECK_THAT(at(threshold / 2) + wire * threshold / 2 / 4096, WithinRel(before, 1e-3));
  CHECK_THAT(at(threshold), WithinRel(before + 0.4 * (before - wire * threshold / 4096), 1e-3));
}
