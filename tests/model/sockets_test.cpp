// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

// What sockets carry in a node, whatever its NICs do.

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

constexpr Group four_nodes{32, 8, 1};

// Of a ring with the protocol for long messages.
Seconds ring_time(const Cluster& cluster, const Group& group, Bytes size) {
  return CollectiveModel(cluster, group)
      .price_pinned(Collective::all_reduce, size, Algorithm::ring, Protocol::simple)
      .value()
      .time;
}

}  // namespace

TEST_CASE("sockets limit a node whatever its NICs carry") {
  Cluster cluster = dgx_h100();
  cluster.network.kind = NetworkKind::tcp;
  cluster.network.law.node_limit = 2_GBps;
  const Seconds limited = ring_time(cluster, four_nodes, 8_GB);
  CHECK(limited / 1_s > 2 * 31.0 / 32 * 4);
  cluster.nic *= 4;
  CHECK_THAT(ring_time(cluster, four_nodes, 8_GB) / limited, WithinRel(1.0, 1e-9));
}

TEST_CASE("one rank a node sends and receives through the sockets of one process") {
  Cluster cluster = dgx_h100();
  cluster.network.kind = NetworkKind::tcp;
  cluster.network.law.node_limit = 2_GBps;
  const auto wire = [&](const Group& group) {  // seconds a byte of the message, over what crosses
    const double n = group.ranks;
    return (ring_time(cluster, group, 16_GB) - ring_time(cluster, group, 8_GB)) / 1_s * n /
           (2 * (n - 1));
  };
  CHECK_THAT(wire({4, 1, 1}) / wire({32, 8, 1}), WithinRel(2.0, 0.01));
  // Eight groups of one rank a node: eight processes share what the node carries.
  CHECK_THAT(wire({4, 1, 8}) / wire({32, 8, 1}), WithinRel(8.0, 0.01));
}

TEST_CASE("what a profile states of its hosts' sockets goes before what other hosts carry") {
  Network network;
  CHECK(node_limit(network) == Bandwidth{});
  network.law.node_limit = 4_GBps;
  CHECK(node_limit(network) == 4_GBps);
  network.node_limit = 6_GBps;
  CHECK(node_limit(network) == 6_GBps);
}

TEST_CASE("how far hosts differ widens a price as far as their sockets decide it") {
  Cluster cluster = dgx_h100();  // 8 NICs of 50 GB/s
  cluster.network.kind = NetworkKind::tcp;
  cluster.network.law.relative_sd_large = 0.05;
  cluster.network.law.relative_sd_node_limit = 0.5;
  const auto sd = [&](Bandwidth limit) {
    cluster.network.law.node_limit = limit;
    return CollectiveModel(cluster, four_nodes).price(Collective::all_reduce, 16_GiB).relative_sd;
  };
  CHECK(sd(40'000_GBps) == 0.05);
  CHECK_THAT(sd(4_GBps), WithinRel(0.5, 0.01));
  // At the NICs' rate hosts below the median decide alone: half of the spread.
  const double between = sd(400_GBps);
  CHECK(between > 0.05);
  CHECK(between < 0.4);
  cluster.network.node_limit = 4_GBps;  // stated, so known
  CHECK(sd(4_GBps) == 0.05);
}

TEST_CASE("hosts that gather for the GPUs add their time to every byte gathered") {
  Cluster cluster = dgx_h100();
  cluster.network.kind = NetworkKind::tcp;
  const auto time = [&](Collective collective, const Group& group) {
    return CollectiveModel(cluster, group).price(collective, 1_GB).time;
  };
  const Group node{8, 8, 1};
  const Seconds gathered = time(Collective::all_gather, four_nodes);
  const Seconds reduced = time(Collective::all_reduce, four_nodes);
  const Seconds inside = time(Collective::all_gather, node);
  cluster.network.gathers = 2_GBps;
  CHECK_THAT((time(Collective::all_gather, four_nodes) - gathered) / 1_ms, WithinRel(500.0, 1e-9));
  CHECK(time(Collective::all_reduce, four_nodes) == reduced);
  CHECK(time(Collective::all_gather, node) == inside);
}
