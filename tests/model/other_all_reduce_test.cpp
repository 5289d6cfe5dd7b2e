// SPDX-License-Identifier: Apache-2.0
#include "model/other_all_reduce.hpp"

#include <string>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/groups.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

Group summed_by(AllReduceBy by, Group group) {
  group.all_reduce = by;
  return group;
}

CollectivePrice price(const Cluster& cluster, const Group& group, Bytes size = 1_GiB) {
  return CollectiveModel(cluster, group).price(Collective::all_reduce, size);
}

Cluster cube_with_law() {
  Cluster cluster = test::volta_cube();
  cluster.name = "cube";
  cluster.fabric.law = test::plain_law();
  cluster.network.law = test::plain_law();
  return cluster;
}

double gain(const Cluster& cluster, int gpus) {
  const Group all{gpus, gpus, 1};
  const Seconds ring =
      CollectiveModel(cluster, all)
          .price_pinned(Collective::all_reduce, 16_GiB, Algorithm::ring, Protocol::simple)
          ->time;
  return ring / price(cluster, summed_by(AllReduceBy::packed_trees, all), 16_GiB).time;
}

}  // namespace

// Wang et al. (MLSys 2020): trees gain where links make no circle of all GPUs and NCCL's rings take
// PCIe, up to 8 times; where rings use every link they gain nothing.
TEST_CASE("packed trees gain on parts of a cube without circles, and nothing on all of it") {
  Cluster cluster = cube_with_law();
  CHECK_THAT(gain(cluster, 8), WithinRel(1.0, 0.05));
  // 1-5 and 5-6 are double, 4-5 and 4-6 single: 1 has one neighbour, so there is no circle, but two
  // trees of 25 GB/s, of 1-5, 5-6 and either link of 4. A ring of four moves 2 * 3 / 4 of the
  // buffer over a slot of 15.75 GB/s.
  cluster.fabric.parts = {{1, 4, 5, 6}};
  CHECK_THAT(gain(cluster, 4), WithinRel(2 * 25.0 * (2 * 3 / 4.0) / 15.75, 0.02));
}

TEST_CASE("on a switch one hop there and back takes the latency of two steps of a ring of 14") {
  const Cluster cluster = test::dgx_a100();
  const Group trees = summed_by(AllReduceBy::packed_trees, {8, 8, 1});
  // Launch 10 us and 4 us a step of protocol Simple in the plain law.
  CHECK_THAT(price(cluster, trees, 1_B).latency.si, WithinRel(18e-6, 1e-9));
  // Both move 2 * 7 / 8 of the buffer over the links of a GPU.
  const CollectivePrice ring =
      *CollectiveModel(cluster, {8, 8, 1})
           .price_pinned(Collective::all_reduce, 4_GiB, Algorithm::ring, Protocol::simple);
  CHECK_THAT(price(cluster, trees, 4_GiB).time / ring.time, WithinRel(1.0, 0.01));
}

// Graham et al. (COM-HPC 2016): a buffer passes the wire once each way, whatever the nodes are;
// around a ring of n nodes 2 (n - 1) / n of it do.
TEST_CASE("sums in the switches halve the bytes between many nodes of one GPU") {
  Cluster cluster = test::dgx_a100();
  cluster.gpus_per_node = 1;
  cluster.nics_per_node = 1;
  for (const int n : {4, 16, 64}) {
    const Group nodes{n, 1, 1};
    const CollectivePrice ring =
        *CollectiveModel(cluster, nodes)
             .price_pinned(Collective::all_reduce, 16_GiB, Algorithm::ring, Protocol::simple);
    const CollectivePrice sum = price(cluster, summed_by(AllReduceBy::sharp, nodes), 16_GiB);
    CHECK_THAT(ring.time / sum.time, WithinRel(2 * (n - 1.0) / n, 0.02));
  }
}

TEST_CASE("an all-reduce by others than NCCL says so, and has a wider spread than its links") {
  const Cluster cluster = test::dgx_a100();
  const Group two_nodes{16, 8, 1};
  const CollectivePrice usual = price(cluster, two_nodes);
  CHECK(usual.by == AllReduceBy::nccl);
  for (const AllReduceBy by : {AllReduceBy::sharp, AllReduceBy::packed_trees}) {
    const Group group = summed_by(by, two_nodes);
    const CollectivePrice other = price(cluster, group);
    CHECK(other.by == by);
    CHECK(other.extrapolated);
    CHECK(other.relative_sd > usual.relative_sd);
    // Of other collectives nothing changes.
    const CollectiveModel model(cluster, group);
    CHECK(model.price(Collective::all_gather, 1_GiB).time ==
          CollectiveModel(cluster, two_nodes).price(Collective::all_gather, 1_GiB).time);
  }
}

TEST_CASE(
    "gradients alone are summed as the layout says, of experts and of parts of a group, too") {
  ParallelLayout layout;
  layout.dp = 16;
  layout.tp = 2;
  layout.dp_collective = AllReduceBy::packed_trees;
  const auto by = [&](MessageKind kind) { return group_of(kind, layout, 8).all_reduce; };
  CHECK(by(MessageKind::dp_gradients) == AllReduceBy::packed_trees);
  CHECK(by(MessageKind::ep_gradients) == AllReduceBy::packed_trees);
  CHECK(by(MessageKind::tp_activations) == AllReduceBy::nccl);
  const Group all = group_of(MessageKind::dp_gradients, layout, 8);
  CHECK(part_in_node(all).all_reduce == AllReduceBy::packed_trees);
  CHECK(part_across_nodes(all).all_reduce == AllReduceBy::packed_trees);
  layout.order = {Degree::dp, Degree::tp, Degree::cp, Degree::pp};
  CHECK(by(MessageKind::dp_gradients) == AllReduceBy::packed_trees);
}

TEST_CASE("a layout that packed trees or switches cannot sum is refused with the reason") {
  ParallelLayout layout;
  layout.dp = 16;
  Cluster cluster = test::dgx_a100();
  cluster.nodes = 2;
  const auto told = [&](AllReduceBy by, const Cluster& of, const ParallelLayout& like) {
    ParallelLayout asked = like;
    asked.dp_collective = by;
    const Problems problems = check_dp_collective(asked, of);
    return problems.empty() ? std::string()
                            : problems.front().path + ": " + problems.front().message;
  };
  CHECK(told(AllReduceBy::sharp, cluster, layout).empty());
  CHECK(told(AllReduceBy::packed_trees, cluster, layout).empty());
  ParallelLayout sharded = layout;
  sharded.zero = 1;
  CHECK_THAT(told(AllReduceBy::sharp, cluster, sharded),
             ContainsSubstring("layout.dp_collective: sharp cannot sum the gradients: zero 1"));
  ParallelLayout one_node = layout;
  one_node.dp = 8;
  CHECK_THAT(told(AllReduceBy::sharp, cluster, one_node), ContainsSubstring("in one node"));
  CHECK(told(AllReduceBy::packed_trees, cluster, one_node).empty());
  Cluster sockets = cluster;
  sockets.network.sums = false;
  CHECK_THAT(told(AllReduceBy::sharp, sockets, layout), ContainsSubstring("sum nothing"));
  Cluster cards = test::pcie_v100();
  cards.nodes = 2;
  ParallelLayout eight = layout;
  eight.dp = 8;
  CHECK_THAT(told(AllReduceBy::packed_trees, cards, eight), ContainsSubstring("no direct links"));
  Cluster mixed = cluster;
  mixed.kinds = {cluster, cluster};
  CHECK_THAT(told(AllReduceBy::packed_trees, mixed, layout), ContainsSubstring("several kinds"));
  ParallelLayout alone = layout;
  alone.dp = 1;
  CHECK_THAT(told(AllReduceBy::packed_trees, cluster, alone), ContainsSubstring("no two ranks"));
}
