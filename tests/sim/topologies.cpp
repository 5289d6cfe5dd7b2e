// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/topologies.hpp"

#include <functional>
#include <numeric>

#include "tests/catch.hpp"

namespace payoff::sim::test {

Server one_gpu() {
  Server server;
  server.nics = 1;
  server.nic = ten;
  return server;
}

Server switched(int gpus, int nics) {
  Server server;
  server.gpus = gpus;
  server.fabric = ServerFabric::switched;
  server.fabric_link = {100_GBps, 1_us};
  server.nics = nics;
  server.nic = ten;
  return server;
}

Server dgx1() {
  Server server;
  server.gpus = 8;
  server.fabric = ServerFabric::mesh;
  server.fabric_link = {25_GBps, 1_us};
  server.mesh = dgx1_volta_links();
  return server;
}

Server pcie(bool gpudirect) {
  Server server;
  server.gpus = 8;
  server.sockets = 2;
  server.pcie_switches = 4;
  server.pcie = server.pcie_uplink = {16_GBps, 1_us};
  server.socket_link = {20_GBps, 1_us};
  server.gpudirect = gpudirect;
  server.nics = 4;
  server.nic = ten;
  return server;
}

Topology regular(const Server& server, int servers, const NetworkShape& network) {
  Topology topology;
  topology.shape = RegularTopology{server, servers, network};
  return topology;
}

Topology torus(std::vector<int> sides) {
  const int servers = std::accumulate(sides.begin(), sides.end(), 1, std::multiplies<>());
  return regular(Server{}, servers, Torus{std::move(sides), ten});
}

FatTree fat_tree(bool rails, int servers_per_leaf, int spines, double oversubscription) {
  FatTree tree;
  tree.rails = rails;
  tree.servers_per_leaf = servers_per_leaf;
  tree.spines = spines;
  tree.oversubscription = oversubscription;
  tree.hop_latency = 1_us;
  return tree;
}

FatTree with_pods(FatTree tree, int leaves_per_pod, int cores_per_spine, double ratio) {
  tree.leaves_per_pod = leaves_per_pod;
  tree.cores_per_spine = cores_per_spine;
  tree.core_oversubscription = ratio;
  return tree;
}

Dragonfly dragonfly(int routers, int global_links, int servers_per_router) {
  return {false, routers * global_links + 1, routers, 0, servers_per_router, global_links, ten,
          ten};
}

Dragonfly dragonfly_plus(int groups, int leaves, int spines, int global_links) {
  return {true, groups, leaves, spines, 2, global_links, ten, ten};
}

TopologyGraph built(const Topology& topology) {
  for (const Problem& problem : check(topology)) {
    FAIL(problem.path + ": " + problem.message);
  }
  BuiltTopology result = build(topology);
  for (const Problem& problem : result.problems) {
    FAIL(problem.path + ": " + problem.message);
  }
  return std::move(*result.graph);
}

std::vector<std::pair<std::string, Topology>> every_kind() {
  Server half_dgx1 = dgx1();
  half_dgx1.gpus = 4;
  half_dgx1.mesh = uniform_mesh(4, 2);
  half_dgx1.nics = 2;
  half_dgx1.nic = ten;
  return {
      {"NVSwitch server", regular(switched(8, 0), 1, SingleSwitch{})},
      {"DGX-1V", regular(dgx1(), 1, SingleSwitch{})},
      {"meshes of 4 on a fat tree", regular(half_dgx1, 4, fat_tree(false, 2, 2, 1))},
      {"PCIe with GPUDirect", regular(pcie(true), 2, SingleSwitch{})},
      {"PCIe without", regular(pcie(false), 2, SingleSwitch{})},
      {"NVL72", regular(switched(72, 0), 1, SingleSwitch{})},
      {"classic fat tree", regular(switched(4, 4), 8, fat_tree(false, 2, 4, 2))},
      {"rails", regular(switched(4, 4), 8, fat_tree(true, 4, 2, 1))},
      {"rails with two GPUs to a NIC", regular(switched(4, 2), 8, fat_tree(true, 4, 2, 1))},
      {"pods", regular(one_gpu(), 24, with_pods(fat_tree(false, 2, 3, 1), 3, 2, 1))},
      {"rails and pods", regular(switched(2, 2), 12, with_pods(fat_tree(true, 2, 2, 1), 2, 2, 1))},
      {"dragonfly", regular(one_gpu(), 72, dragonfly(4, 2, 2))},
      {"dragonfly with trunks", regular(one_gpu(), 24, Dragonfly{false, 3, 4, 0, 2, 2, ten, ten})},
      {"dragonfly+", regular(one_gpu(), 30, dragonfly_plus(5, 3, 2, 4))},
      {"ring", torus({9})},
      {"ring of two", torus({2})},
      {"torus", torus({4, 3, 2})},
      {"torus of servers", regular(switched(2, 1), 16, Torus{{4, 4}, ten})},
      {"full mesh", regular(Server{}, 7, FullMesh{ten})},
  };
}

}  // namespace payoff::sim::test
