// SPDX-License-Identifier: Apache-2.0
#include "model/collective_bound.hpp"

#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

Seconds least(const Cluster& cluster, const Group& group, Collective collective, Bytes size) {
  return CollectiveBound(cluster, paths_of(cluster, group)).least(collective, size);
}

}  // namespace

TEST_CASE("no collective is shorter than its bytes take at line rate") {
  Cluster cluster = dgx_h100();
  const Group four_nodes{32, 8, 1};
  const double nics = 8 * 50e9;  // 8 x 400 Gb/s
  const auto between = [&](Collective collective) {
    return least(cluster, four_nodes, collective, 4_GB) / 1_s;
  };
  // Every node has a quarter of the ranks: 3/4 of the buffer leaves it, twice in an all-reduce.
  CHECK_THAT(between(Collective::all_reduce), WithinRel(2 * 3e9 / nics, 1e-12));
  CHECK_THAT(between(Collective::all_gather), WithinRel(3e9 / nics, 1e-12));
  CHECK_THAT(between(Collective::reduce_scatter), WithinRel(3e9 / nics, 1e-12));
  CHECK_THAT(between(Collective::broadcast), WithinRel(4e9 / nics, 1e-12));
  // Each of its 8 ranks sends 3/4 of its buffer to other nodes.
  CHECK_THAT(between(Collective::all_to_all), WithinRel(8 * 3e9 / nics, 1e-12));
  // Inside a node a switch that reduces takes the buffer once; one that does not, 2 * 7/8 of it.
  const Group node{8, 8, 1};
  CHECK_THAT(least(cluster, node, Collective::all_reduce, 4_GB) / 1_s,
             WithinRel(4e9 / 450e9, 1e-12));
  cluster.fabric.nvls = false;
  CHECK_THAT(least(cluster, node, Collective::all_reduce, 4_GB) / 1_s,
             WithinRel(7e9 / 450e9, 1e-12));
}

TEST_CASE("groups that share the NICs of a node share what they carry") {
  const Cluster cluster = dgx_h100();
  const auto of_rivals = [&](int rivals) {
    return least(cluster, {4, 1, rivals}, Collective::all_reduce, 1_GB) / 1_s;
  };
  CHECK_THAT(of_rivals(8), WithinRel(1.5e9 / 50e9, 1e-12));
  // Alone, a rank has all NICs of its node, and no more than its slot carries (63 GB/s).
  CHECK_THAT(of_rivals(1), WithinRel(1.5e9 / 63e9, 1e-12));
}

TEST_CASE("a short message crosses a switch for every doubling of the nodes") {
  const Cluster cluster = dgx_h100();
  CHECK(least(cluster, {128, 8, 1}, Collective::all_reduce, 8_B) == 2_us);
  CHECK(least(cluster, {40, 8, 1}, Collective::broadcast, 8_B) == 1.5_us);
  CHECK(least(cluster, {128, 8, 1}, Collective::all_to_all, 8_B) == 0.5_us);
  CHECK(least(cluster, {8, 8, 1}, Collective::all_reduce, 8_B) < 1_ns);
}

TEST_CASE("a law that achieves less than the line never answers less than the bound") {
  const Cluster cluster = dgx_h100();
  for (const Group group : {Group{2, 8, 1}, Group{8, 8, 1}, Group{16, 8, 1}, Group{4, 1, 1},
                            Group{4, 1, 8}, Group{24, 8, 1}, Group{256, 8, 1}}) {
    const CollectiveModel model(cluster, group);
    for (std::size_t c = 0; c < collective_count; ++c) {
      const auto collective = static_cast<Collective>(c);
      for (Bytes size = 8_B; size <= 16_GiB; size = size * 8) {
        const CollectivePrice price = model.price(collective, size);
        INFO(group.ranks << " ranks, " << name(collective) << ", " << size.si);
        CHECK(least(cluster, group, collective, size) <= price.time);
        CHECK(price.least == least(cluster, group, collective, size));
      }
    }
  }
}
