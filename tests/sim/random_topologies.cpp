// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/random_topologies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/sim/topologies.hpp"

namespace payoff::test {
namespace {

int divided(int number, int by) { return (number + by - 1) / by; }

LinkRate random_rate(Random& random, double least, double most) {
  return {Bandwidth{random.between(least, most)}, {}};
}

FatTree random_tree(Random& random, bool rails) {
  // Drawn one by one: compilers evaluate arguments in different orders.
  const int per_leaf = random.chance(50) ? 2 : 4;
  const int spines = random.integer(1, 3);
  return sim::test::fat_tree(rails, per_leaf, spines, random.chance(50) ? 2.0 : 1.0);
}

NetworkShape random_network(Random& random, int servers) {
  const int pick = random.integer(0, 3);
  if (pick == 0 || servers == 1) {
    return SingleSwitch{};
  }
  FatTree tree = random_tree(random, random.chance(50));
  if (pick == 3) {
    tree = sim::test::with_pods(tree, 2, 2, 1.5);
  }
  return tree;
}

Server random_switched(Random& random, int gpus) {
  Server server = sim::test::switched(gpus, random.chance(60) ? gpus : 1);
  server.fabric_link.bandwidth = Bandwidth{random.between(1e9, 4e9)};
  server.nic.bandwidth = Bandwidth{random.between(2e8, 2e9)};
  return server;
}

Server random_mesh(Random& random) {
  Server server = random_switched(random, random.chance(50) ? 4 : 8);
  server.fabric = ServerFabric::mesh;
  server.mesh = server.gpus == 8 ? dgx1_volta_links() : uniform_mesh(4, 2);
  server.nics = 1 << random.integer(0, 2);
  return server;
}

Server random_pcie(Random& random) {
  Server server = sim::test::pcie(random.chance(50));
  server.pcie = server.pcie_uplink = random_rate(random, 1e9, 4e9);
  server.socket_link = random_rate(random, 5e8, 2e9);
  server.nic = random_rate(random, 2e8, 2e9);
  return server;
}

// Every two groups have a link for each router or spine at least.
Dragonfly random_dragonfly(Random& random, int servers, bool plus) {
  Dragonfly fly;
  fly.plus = plus;
  fly.groups = random.integer(2, 4);
  fly.routers = random.integer(1, 4);
  fly.spines = plus ? random.integer(1, 3) : 0;
  fly.global_links = fly.groups - 1;
  fly.servers_per_router = divided(servers, fly.groups * fly.routers);
  fly.local = random_rate(random, 5e8, 4e9);
  fly.global = random_rate(random, 2e8, 2e9);
  return fly;
}

// The two sides that differ least.
std::vector<int> sides_of(int servers) {
  int side = 1;
  for (int i = 1; i * i <= servers; ++i) {
    side = servers % i == 0 ? i : side;
  }
  return {side, servers / side};
}

// Routers in a ring with chords, four GPUs at each: some links have a twin, others do not.
UserGraph random_graph(Random& random, int ranks) {
  UserGraph graph;
  const auto routers = static_cast<std::size_t>(divided(ranks, 4));
  graph.gpus = 4 * routers;
  for (std::size_t g = 0; g < graph.gpus; ++g) {
    graph.vertices.push_back({"g" + std::to_string(g), GraphVertexKind::gpu});
  }
  const LinkRate to_gpu = random_rate(random, 5e8, 2e9);
  const LinkRate between = random_rate(random, 5e8, 4e9);
  for (std::size_t r = 0; r < routers; ++r) {
    graph.vertices.push_back({"r" + std::to_string(r), GraphVertexKind::router});
    for (std::size_t g = 4 * r; g < 4 * r + 4; ++g) {
      graph.links.push_back({g, graph.gpus + r, to_gpu, true});
    }
    if (routers > 1) {
      graph.links.push_back({graph.gpus + r, graph.gpus + (r + 1) % routers, between, true});
    }
    if (r >= routers / 2 && random.chance(50)) {
      graph.links.push_back({graph.gpus + r, graph.gpus + r - routers / 2, between, true});
    }
  }
  std::erase_if(graph.links, [](const UserGraph::Link& link) { return link.from == link.to; });
  return graph;
}

// Of two GPUs or more, which need NICs, or of one that is itself a part of the network.
RegularTopology direct(Random& random, int ranks) {
  RegularTopology regular;
  const int gpus = random.chance(40) ? 1 : random.chance(50) ? 4 : 8;
  regular.server = gpus == 1 ? Server{} : random_switched(random, gpus);
  regular.servers = divided(ranks, gpus);
  return regular;
}

NetworkShape random_direct(Random& random, const std::string& kind, int servers) {
  const LinkRate link = random_rate(random, 2e8, 2e9);
  if (kind == "full mesh") {
    return FullMesh{link};
  }
  return Torus{kind == "torus" ? sides_of(servers) : std::vector<int>{servers}, link};
}

RegularTopology random_regular(Random& random, const std::string& kind, int ranks) {
  if (kind == "torus" || kind == "ring" || kind == "full mesh") {
    RegularTopology regular = direct(random, ranks);
    regular.network = random_direct(random, kind, regular.servers);
    return regular;
  }
  RegularTopology regular;
  regular.server = kind == "meshes" ? random_mesh(random)
                   : kind == "PCIe" ? random_pcie(random)
                                    : random_switched(random, random.chance(50) ? 4 : 8);
  regular.servers = divided(ranks, regular.server.gpus);
  if (regular.servers == 1 || kind == "switch") {
    regular.network = SingleSwitch{};
  } else if (kind == "dragonfly" || kind == "dragonfly+") {
    regular.network = random_dragonfly(random, regular.servers, kind == "dragonfly+");
  } else {
    const FatTree tree = random_tree(random, kind == "rails");
    regular.network = kind == "pods" ? sim::test::with_pods(tree, 2, 2, 1.5) : tree;
  }
  return regular;
}

}  // namespace

Topology random_topology(Random& random, int servers, int gpus) {
  RegularTopology regular;
  regular.servers = servers;
  regular.server = random_switched(random, gpus);
  regular.network = random_network(random, servers);
  Topology topology;
  topology.shape = regular;
  topology.balance = Balance::ideal;
  return topology;
}

RandomTopology random_kind_of_topology(Random& random, int ranks) {
  static const std::array<std::string, 12> kinds{"switch",    "fat tree",   "rails", "pods",
                                                 "dragonfly", "dragonfly+", "torus", "ring",
                                                 "full mesh", "meshes",     "PCIe",  "own graph"};
  RandomTopology result;
  result.kind = kinds.at(static_cast<std::size_t>(random.integer(0, 11)));
  result.topology.balance = Balance::ideal;
  if (result.kind == "own graph") {
    result.topology.shape = random_graph(random, ranks);
    result.gpus_per_server = 4;
    return result;
  }
  RegularTopology regular = random_regular(random, result.kind, ranks);
  result.gpus_per_server = regular.server.gpus;
  result.topology.shape = std::move(regular);
  return result;
}

}  // namespace payoff::test
