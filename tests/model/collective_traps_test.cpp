// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// What simulators of training have got wrong, as far as prices of collectives go.

namespace {

Cluster of_nodes(Cluster cluster, int nodes) {
  cluster.nodes = nodes;
  return cluster;
}

}  // namespace

// From GPU to NIC to switch to NIC to GPU there are several links; a message streams through all of
// them at once. Kept whole in the switch, every byte more would cost its time on two links.
TEST_CASE("a switch does not keep a whole message before it sends it on") {
  const Cluster cluster = of_nodes(test::dgx_a100(), 2);
  const CollectiveModel pair(cluster, {2, 1, 1});
  const Bandwidth nic = cluster.nic * 0.8;  // share_simple
  const Bytes more = 1_GiB;
  const Seconds once = pair.price(Collective::send_recv, 8_GiB).time;
  const Seconds twice = pair.price(Collective::send_recv, 8_GiB + more).time;
  CHECK_THAT((twice - once) / (more / nic), WithinRel(1.0, 0.01));
}

// Tensor parallelism leaves data-parallel groups of one GPU a node. Such a group chooses and pays
// what a group of this shape does, whatever else the cluster has.
TEST_CASE("a sub-group has the algorithm and the price of its own shape, in any cluster") {
  const Group replicas{16, 1, 8};
  const CollectiveModel alone(of_nodes(test::dgx_a100(), 16), replicas);
  const CollectiveModel among_many(of_nodes(test::dgx_a100(), 1024), replicas);
  for (const Bytes size : {8_B, 64_KiB, 1_MiB, 25_MiB, 1_GiB}) {
    INFO(size.si);
    const CollectivePrice a = alone.price(Collective::all_reduce, size);
    const CollectivePrice b = among_many.price(Collective::all_reduce, size);
    CHECK(a.algorithm == b.algorithm);
    CHECK(a.protocol == b.protocol);
    CHECK(a.time == b.time);
  }
}

// 15 of 16 steps of the ring of a whole cluster stay in a node; a group of one GPU a node has none
// of those, so every one of its 2 (n - 1) steps is one between nodes.
TEST_CASE("a group with one GPU a node pays every step on the network") {
  const Cluster cluster = of_nodes(test::dgx_a100(), 16);
  const CollectiveModel group(cluster, {16, 1, 8});
  const auto price =
      group.price_pinned(Collective::all_reduce, 8_B, Algorithm::ring, Protocol::simple);
  REQUIRE(price);
  CHECK(price->latency >= 30.0 * cluster.network.law.step_simple);
}
