// SPDX-License-Identifier: Apache-2.0
#include "model/cube_part.hpp"

#include <numeric>
#include <vector>

#include "model/group_paths.hpp"
#include "model/groups.hpp"
#include "model/topology.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

// Hybrid cubes: which links a group has depends on which GPUs it has.

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::volta_cube;

namespace {

Cluster pascal_cube() {
  Cluster cluster = volta_cube();
  cluster.gpu.architecture = Architecture::pascal;
  cluster.fabric.per_gpu = 80_GBps;
  cluster.fabric.pair = 20_GBps;
  return cluster;
}

}  // namespace

TEST_CASE("four P100 of a half share six single links in circles over halves of them") {
  // Each of three circles takes half of two links of every GPU: all three of them.
  const std::vector<int> half{0, 1, 2, 3};
  CHECK(cube_part(pascal_cube().fabric, half).in_circles == 3);
  // Of a Volta's half 0-3 and 1-2 are double: two circles of whole links.
  CHECK(cube_part(volta_cube().fabric, half).in_circles == 4);
}

TEST_CASE("a part that no links join exchanges and sums over PCIe") {
  Cluster cluster = volta_cube();
  cluster.fabric.parts = {{0, 5, 6}};  // 5 and 6 are joined, 0 to neither
  const CubePart& part = cube_part(cluster.fabric, cluster.fabric.parts.front());
  CHECK(part.in_exchange == 0);
  CHECK_FALSE(part.has_chain);
  const GroupPaths paths = paths_of(cluster, {3, 3, 1});
  CHECK(paths.gpu == pcie_slot(Architecture::volta));
  CHECK(paths.exchange == pcie_slot(Architecture::volta));
  CHECK(paths.peer == pcie_slot(Architecture::volta));
}

TEST_CASE("what the GPUs of an exchange have to pass on is on the shortest ways among them") {
  // 1-5 and 5-6 are double, 4-5 single. 1 reaches all by way of 5: its three parts have two links
  // there; from 5 to 4 one link has 1's part and 5's own, which is the busiest: 3 / 2.
  const std::vector<int> part{1, 4, 5, 6};
  CHECK_THAT(cube_part(volta_cube().fabric, part).in_exchange, WithinRel(1.5, 1e-9));
}

TEST_CASE("groups of a layout know how far apart in a node their ranks are") {
  ParallelLayout layout;
  layout.tp = 2;
  layout.dp = 4;
  CHECK(tensor_group(layout, 8).stride == 1);
  CHECK(data_group(layout, 8).stride == 2);
  layout.dp = 2;
  layout.pp = 2;
  CHECK(boundary_group(layout, 8, 0).stride == 4);  // four ranks a stage
  // 0 and 4, 1 and 5 have double links, 2 and 6 a single one, which the others wait for.
  Cluster cluster = volta_cube();
  CHECK(paths_of(cluster, boundary_group(layout, 8, 0)).gpu == 25_GBps);
  layout.tp = 1;
  cluster.fabric.parts = {{0, 1, 4, 5}};
  CHECK(paths_of(cluster, boundary_group(layout, 4, 0)).gpu == 50_GBps);
  CHECK(paths_of(cluster, data_group(layout, 4)).gpu == 25_GBps);
}

TEST_CASE("groups that are neighbours in a node share the NICs near them, not those of others") {
  Cluster cluster = volta_cube();  // 4 NICs for 8 GPUs
  cluster.nodes = 2;
  CHECK(paths_of(cluster, {2, 1, 1}).rank == 12.5_GBps);
  CHECK(paths_of(cluster, {2, 1, 2}).rank == 6.25_GBps);  // the two GPUs of one NIC
  CHECK(paths_of(cluster, {2, 1, 4}).rank == 6.25_GBps);
  CHECK(paths_of(cluster, {2, 1, 8}).rank == 6.25_GBps);
}

TEST_CASE("which GPUs of a DGX-1V a group has decides its links, and its slowest group the price") {
  Cluster cluster = volta_cube();
  const auto gpu = [&](const std::vector<int>& part, const Group& group) {
    cluster.fabric.parts = {part};
    return paths_of(cluster, group).gpu;
  };
  // Wang et al. (MLSys 2020), figure 3: 1, 4, 5 and 6 have a way through all, and none back.
  CHECK(gpu({1, 4, 5, 6}, {4, 4, 1}) == pcie_slot(Architecture::volta));
  CHECK(gpu({0, 1, 5, 4}, {4, 4, 1}) == 50_GBps);  // one circle over single links
  CHECK(gpu({0, 3}, {2, 2, 1}) == 50_GBps);        // a double link
  CHECK(gpu({0, 1}, {2, 2, 1}) == 25_GBps);
  CHECK(gpu({0, 5}, {2, 2, 1}) == pcie_slot(Architecture::volta));
  // On the way to a NIC the way back is not needed.
  cluster.nodes = 2;
  CHECK(gpu({1, 4, 5, 6}, {8, 4, 1}) == 50_GBps);
  // Neighbours of 0, 3, 4, 7 are 0-3 and 4-7, double links; two apart 0-4, and 3-7, a single one.
  CHECK(gpu({0, 3, 4, 7}, {2, 2, 2}) == 50_GBps);
  CHECK(gpu({0, 3, 4, 7}, {2, 2, 2, 2}) == 25_GBps);
  // Of 0, 3, 5, 4 the second pair of neighbours has a single link, and two apart 0-5 has none.
  CHECK(gpu({0, 3, 5, 4}, {2, 2, 2}) == 25_GBps);
  CHECK(gpu({0, 3, 5, 4}, {2, 2, 2, 2}) == pcie_slot(Architecture::volta));
  // All of one node, none of another: the slower server.
  cluster.fabric.parts = {{0, 1, 2, 3}, {0, 1, 4, 5}};
  CHECK(paths_of(cluster, {8, 4, 1}).gpu == 50_GBps);
}

TEST_CASE("the GPUs of a topology say which parts of hybrid cubes the nodes are") {
  const Cluster cluster = volta_cube();
  Server server;
  server.gpus = 8;
  server.fabric = ServerFabric::mesh;
  server.mesh = dgx1_volta_links();
  const Topology two{"two", RegularTopology{server, 2, SingleSwitch{}}, {}, {}, {}, {}, {}};
  using Parts = std::vector<std::vector<int>>;
  const auto parts = [&](const std::vector<int>& gpus, int per_node) {
    return cube_parts_of(cluster.fabric, two, gpus, per_node);
  };
  CHECK(parts({1, 4, 5, 6, 9, 12, 13, 14}, 4) == Parts{{1, 4, 5, 6}});
  CHECK(parts({0, 1, 8, 11}, 2) == Parts{{0, 1}, {0, 3}});
  CHECK(parts({0, 1, 2, 8, 9, 10, 11, 12}, 4).empty());  // three and five: no node of four
  Topology own = two;
  std::get<RegularTopology>(own.shape).server.mesh = uniform_mesh(8, 1);
  CHECK(cube_parts_of(cluster.fabric, own, std::vector<int>{0, 1}, 2).empty());
}
