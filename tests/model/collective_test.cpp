// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include <cmath>

#include "model/group_paths.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

constexpr Group node{8, 8, 1};
constexpr Group four_nodes{32, 8, 1};
constexpr std::array collectives{Collective::all_reduce,     Collective::all_gather,
                                 Collective::reduce_scatter, Collective::broadcast,
                                 Collective::reduce,         Collective::all_to_all,
                                 Collective::send_recv};

Seconds pinned(const Cluster& cluster, const Group& group, Bytes size,
               Algorithm algorithm = Algorithm::ring, Protocol protocol = Protocol::simple) {
  return CollectiveModel(cluster, group)
      .price_pinned(Collective::all_reduce, size, algorithm, protocol)
      .value()
      .time;
}

Seconds time_of(const Cluster& cluster, const Group& group, Bytes size,
                Collective collective = Collective::all_reduce) {
  return CollectiveModel(cluster, group).price(collective, size).time;
}

// A law with every term, for properties that must hold whatever the numbers are.
Cluster with_every_term(Cluster cluster) {
  for (LinkLaw* law : {&cluster.fabric.law, &cluster.network.law}) {
    law->ramp = 7_us;
    law->chunk = 1_MiB;
    law->congestion_per_doubling = 0.05;
  }
  cluster.network.law.rendezvous = 5_us;
  cluster.network.eager = 2_KiB;
  cluster.fabric.law.channel = 20_GBps;
  return cluster;
}

void scale(Cluster& cluster, double factor) {
  cluster.fabric.per_gpu *= factor;
  cluster.fabric.pair *= factor;
  cluster.nic *= factor;
  for (LinkLaw* law : {&cluster.fabric.law, &cluster.network.law}) {
    law->channel *= factor;
    for (Seconds* time : {&law->launch, &law->step_ll, &law->step_ll128, &law->step_simple,
                          &law->step_nvls, &law->rendezvous, &law->ramp}) {
      *time /= factor;
    }
  }
}

}  // namespace

TEST_CASE("a ring all-reduce takes 2(n-1) steps and moves 2(n-1)/n of the buffer") {
  const double expected = 10e-6 + 14 * 4e-6 + 14.0 / 8 * 1073741824.0 / (0.8 * 450e9);
  CHECK_THAT(pinned(dgx_h100(), node, 1_GiB) / 1_s, WithinRel(expected, 1e-12));
}

TEST_CASE("LL sends a flag with every word, LL128 eight bytes with 120") {
  const auto wire = [](Protocol protocol) {
    const Cluster cluster = dgx_h100();
    return pinned(cluster, node, 2_GB, Algorithm::ring, protocol) -
           pinned(cluster, node, 1_GB, Algorithm::ring, protocol);
  };
  const double payload = 14.0 / 8 * 1e9 / 450e9;
  CHECK_THAT(wire(Protocol::ll) / 1_s, WithinRel(2 * payload, 1e-9));
  CHECK_THAT(wire(Protocol::ll128) / 1_s, WithinRel(128.0 / 120 * payload, 1e-9));
}

TEST_CASE("latency is paid for every step, not for every collective") {
  Cluster cluster = dgx_h100();
  const Seconds before = pinned(cluster, node, 8_B);
  cluster.fabric.law.step_simple += 1_us;
  CHECK_THAT((pinned(cluster, node, 8_B) - before) / 1_us, WithinRel(14.0, 1e-9));
  const Seconds tree = pinned(cluster, four_nodes, 8_B, Algorithm::tree);
  cluster.network.law.step_simple += 1_us;
  // Up and down a tree of four nodes.
  CHECK_THAT((pinned(cluster, four_nodes, 8_B, Algorithm::tree) - tree) / 1_us,
             WithinRel(4.0, 1e-9));
}

TEST_CASE("over two nodes a tree sends every byte across the wire once, over more twice") {
  Cluster cluster = dgx_h100();
  cluster.fabric.per_gpu = cluster.fabric.pair = 1e9 * 1_GBps;  // only the network counts
  const auto per_byte = [&](int nodes, Algorithm algorithm) {
    const Group group{8 * nodes, 8, 1};
    return (pinned(cluster, group, 2_GB, algorithm) - pinned(cluster, group, 1_GB, algorithm)) /
           1_s;
  };
  const double once = 1e9 / (0.8 * 400e9);
  CHECK_THAT(per_byte(2, Algorithm::tree), WithinRel(once, 1e-6));
  CHECK_THAT(per_byte(2, Algorithm::nvls_tree), WithinRel(once, 1e-6));
  CHECK_THAT(per_byte(2, Algorithm::ring), WithinRel(30.0 / 16 * once, 1e-6));
  CHECK_THAT(per_byte(8, Algorithm::tree), WithinRel(2 * once, 1e-6));
}

TEST_CASE("a collective of one rank costs nothing") {
  for (const Collective collective : collectives) {
    CHECK(time_of(dgx_h100(), Group{1, 1, 1}, 1_GiB, collective) == 0_s);
  }
}

TEST_CASE("a group that spans nodes is never cheaper than one of as many ranks in a node") {
  for (Cluster cluster : {dgx_h100(), dgx_a100()}) {
    // Steps of NCCL's tuner: a hop between nodes takes longer than one inside.
    cluster.network.law.step_ll = 5_us;
    cluster.network.law.step_ll128 = 8.5_us;
    cluster.network.law.step_simple = 14_us;
    for (const Collective collective : collectives) {
      for (Bytes size = 8_B; size <= 8_GiB; size *= 8) {
        const Seconds inside = time_of(cluster, Group{8, 8, 1}, size, collective);
        CHECK(time_of(cluster, Group{8, 4, 1}, size, collective) >= inside * (1 - 1e-12));
      }
    }
  }
}

TEST_CASE("more bandwidth never makes a pinned algorithm slower") {
  const Cluster slow = with_every_term(dgx_h100());
  Cluster fast = slow;
  fast.nic *= 2;
  Cluster inside = slow;
  inside.fabric.per_gpu *= 2;
  inside.fabric.pair *= 2;
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::nvls_tree}) {
    for (Bytes size = 8_B; size <= 8_GiB; size *= 8) {
      const Seconds before = pinned(slow, four_nodes, size, algorithm);
      CHECK(pinned(fast, four_nodes, size, algorithm) <= before);
      CHECK(pinned(inside, four_nodes, size, algorithm) <= before);
    }
  }
}

TEST_CASE("a pinned algorithm takes longer for more bytes, without a jump") {
  const Cluster cluster = with_every_term(dgx_h100());
  for (const Collective collective : collectives) {
    const CollectiveModel model(cluster, four_nodes);
    Seconds before;
    for (Bytes size = 1_KiB; size <= 1_GiB; size *= 1.01) {
      const bool rings =
          collective != Collective::all_to_all && collective != Collective::send_recv;
      const Algorithm algorithm = rings ? Algorithm::ring : Algorithm::none;
      const Seconds time =
          model.price_pinned(collective, size, algorithm, Protocol::simple).value().time;
      CHECK(time >= before);
      if (before > 0_s) {
        CHECK(time < before * 1.02);
      }
      before = time;
    }
  }
}

TEST_CASE("all speeds times k divide the time of a pinned algorithm by k") {
  Cluster cluster = with_every_term(dgx_h100());
  cluster.nic = 100_Gbps;  // a PCIe slot, which is not a speed of the cluster, does not limit it
  for (const double factor : {0.5, 2.0, 4.0}) {
    Cluster scaled = cluster;
    scale(scaled, factor);
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::nvls_tree}) {
      for (Bytes size = 8_B; size <= 8_GiB; size *= 64) {
        CHECK_THAT(pinned(scaled, four_nodes, size, algorithm) / 1_s,
                   WithinRel(pinned(cluster, four_nodes, size, algorithm) / factor / 1_s, 1e-9));
      }
    }
  }
}

TEST_CASE("eight groups of one GPU a node share the node's NICs eight ways") {
  Cluster cluster = dgx_h100();
  cluster.nics_per_node = 1;
  const Seconds alone = pinned(cluster, Group{4, 1, 1}, 8_GiB);
  const Seconds together = pinned(cluster, Group{4, 1, 8}, 8_GiB);
  CHECK_THAT(together / alone, WithinRel(8.0, 0.01));
  // With a NIC for every GPU nobody waits.
  cluster.nics_per_node = 8;
  CHECK(pinned(cluster, Group{4, 1, 8}, 8_GiB) == pinned(cluster, Group{4, 1, 1}, 8_GiB));
}

TEST_CASE("a group uses the NICs near its GPUs: two of eight GPUs have a quarter of them") {
  const Cluster cluster = dgx_h100();
  const auto wire = [&](int per_node) {
    const Group group{4 * per_node, per_node, 1};
    const double n = group.ranks;
    return (pinned(cluster, group, 2_GB) - pinned(cluster, group, 1_GB)) / 1_s * n / (2 * (n - 1));
  };
  CHECK_THAT(wire(2) / wire(8), WithinRel(4.0, 0.15));  // 8 NICs and the switch are nearly as fast
  CHECK_THAT(wire(1) / wire(2), WithinRel(2.0, 0.01));
}

TEST_CASE("a card, or a board of four on x86, reaches a NIC as it reaches another card") {
  Cluster cluster = eight_gpus(Architecture::ampere, LinkGeneration::nvlink3, 300_GBps, 200_Gbps);
  const auto domain = [&](int local) { return paths_of(cluster, {2 * local, local, 1}).domain; };
  constexpr double card = 0.66 * 31.5;  // GB/s of a slot of PCIe 4; the NIC has 25
  CHECK_THAT(domain(8) / 1_GBps, WithinRel(8 * 25.0, 1e-9));  // a PCIe switch between the two
  cluster.gpu.card = true;
  CHECK_THAT(domain(1) / 1_GBps, WithinRel(card, 1e-9));
  cluster.network.gpudirect = false;  // through host memory: another law
  CHECK_THAT(domain(1) / 1_GBps, WithinRel(25.0, 1e-9));
  cluster.network.gpudirect = true;
  cluster.gpu.card = false;
  cluster.fabric.kind = FabricKind::full_mesh;
  cluster.fabric.max_gpus = 4;
  cluster.gpus_per_node = 4;
  cluster.nics_per_node = 2;
  CHECK_THAT(domain(4) / 1_GBps, WithinRel(2 * card, 1e-9));
  // Two groups of the node share what its two NICs get.
  CHECK_THAT(paths_of(cluster, {4, 2, 2}).domain / 1_GBps, WithinRel(card, 1e-9));
  cluster.cpu = CpuVendor::arm;
  CHECK_THAT(domain(4) / 1_GBps, WithinRel(2 * 25.0, 1e-9));
}

TEST_CASE("one switch over several nodes is one domain: no network is needed") {
  Cluster rack = dgx_h100();
  rack.gpu.architecture = Architecture::blackwell;
  rack.fabric.max_gpus = 72;
  rack.fabric.spans_nodes = true;
  rack.gpus_per_node = 4;
  rack.network = {};
  const Group all{72, 4, 1};
  CHECK(check_group(rack, all).empty());
  CHECK(CollectiveModel(rack, all).price(Collective::all_reduce, 1_GiB).algorithm ==
        Algorithm::nvls);
  CHECK_FALSE(check_group(rack, Group{144, 4, 1}).empty());
}

TEST_CASE("a price beyond what the law was measured on says so") {
  Cluster cluster = dgx_h100();
  CHECK(CollectiveModel(cluster, four_nodes).price(Collective::all_reduce, 1_MiB).extrapolated);
  cluster.network.law.domain = {8_B, 1_GiB, 64};
  const CollectiveModel model(cluster, four_nodes);
  CHECK_FALSE(model.price(Collective::all_reduce, 8_B).extrapolated);
  CHECK_FALSE(model.price(Collective::all_reduce, 1_GiB).extrapolated);
  CHECK(model.price(Collective::all_reduce, 2_GiB).extrapolated);
  CHECK(model.price(Collective::all_reduce, 4_B).extrapolated);
  CHECK(
      CollectiveModel(cluster, Group{128, 8, 1}).price(Collective::all_reduce, 1_MiB).extrapolated);
  // Inside a node the fabric's law decides, which nobody measured here.
  CHECK(CollectiveModel(cluster, node).price(Collective::all_reduce, 1_MiB).extrapolated);
}

TEST_CASE("prime and huge numbers of ranks have finite prices") {
  const Cluster cluster = with_every_term(dgx_h100());
  for (const Group& group : {Group{13, 1, 1}, Group{104729, 1, 1}, Group{1 << 20, 8, 1}}) {
    REQUIRE(check_group(cluster, group).empty());
    for (const Collective collective : collectives) {
      for (const Bytes size : {1_B, 25_MiB, 1024_GiB}) {
        const Seconds time = time_of(cluster, group, size, collective);
        CHECK(std::isfinite(time.si));
        CHECK(time > 0_s);
      }
    }
  }
}

TEST_CASE("a group that does not fit its cluster is a problem, not a price") {
  CHECK(check_group(dgx_h100(), four_nodes).empty());
  CHECK(check_group(dgx_h100(), Group{16, 16, 1}).size() ==
        2);  // more than the node, and the switch
  CHECK(check_group(dgx_h100(), Group{13, 8, 1}).size() == 1);  // nodes of different sizes
  CHECK(check_group(dgx_h100(), Group{0, 0, 0}).size() == 3);
  CHECK(check_group(dgx_h100(), Group{(1 << 20) + 8, 8, 1}).size() == 1);
  Cluster alone = dgx_h100();
  alone.network = {};
  CHECK(check_group(alone, Group{16, 8, 1}).size() == 1);
}

TEST_CASE("bus bandwidth factors are those of nccl-tests") {
  CHECK(bus_factor(Collective::all_reduce, 8) == 1.75);
  CHECK(bus_factor(Collective::all_gather, 8) == 0.875);
  CHECK(bus_factor(Collective::send_recv, 8) == 1.0);
  CHECK(wire_bytes_per_rank(Collective::all_reduce, 8_GB, 4) == 12_GB);
  CHECK(wire_bytes_per_rank(Collective::all_reduce, 8_GB, 1) == 0_B);
}
