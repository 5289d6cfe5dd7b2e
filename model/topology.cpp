// SPDX-License-Identifier: Apache-2.0
#include "model/topology.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace payoff {
namespace {

constexpr int most_servers = 1 << 20;

class Checks {
 public:
  void require(bool holds, std::string path, std::string message, std::string help = {}) {
    if (!holds) {
      problems_.push_back({std::move(path), std::move(message), std::move(help)});
    }
  }
  void rate(const LinkRate& rate, const std::string& path) {
    require(rate.bandwidth > Bandwidth{}, path, "has no bandwidth");
    require(rate.latency >= 0_s, path, "has a negative latency");
  }
  [[nodiscard]] Problems take() { return std::move(problems_); }

 private:
  Problems problems_;
};

void check_mesh(const Server& server, Checks& checks) {
  const auto n = static_cast<std::size_t>(server.gpus);
  if (server.mesh.size() != n * n) {
    checks.require(false, "server.fabric.links",
                   "is not one row and one column for each of " + std::to_string(n) + " GPUs");
    return;
  }
  for (std::size_t a = 0; a < n; ++a) {
    checks.require(server.mesh[a * n + a] == 0, "server.fabric.links",
                   "joins GPU " + std::to_string(a) + " to itself");
    for (std::size_t b = 0; b < a; ++b) {
      checks.require(server.mesh[a * n + b] == server.mesh[b * n + a], "server.fabric.links",
                     "has not as many links from " + std::to_string(a) + " to " +
                         std::to_string(b) + " as back");
    }
  }
}

void check_server(const Server& server, Checks& checks) {
  checks.require(server.gpus >= 1, "server.gpus", "has to be at least 1");
  if (server.fabric != ServerFabric::none) {
    checks.rate(server.fabric_link, "server.fabric");
  }
  if (server.fabric == ServerFabric::mesh) {
    check_mesh(server, checks);
  }
  if (server.sockets > 0) {
    checks.require(
        server.pcie_switches >= server.sockets && server.pcie_switches % server.sockets == 0,
        "server.pcie.switches", "is no multiple of the number of sockets",
        "GPUs on the root complex itself: one switch for each socket");
    checks.rate(server.pcie, "server.pcie");
    checks.rate(server.pcie_uplink, "server.pcie.uplink");
    if (server.sockets > 1) {
      checks.rate(server.socket_link, "server.pcie.socket_link");
    }
  }
  checks.require(server.gpus == 1 || server.fabric != ServerFabric::none || server.sockets > 0,
                 "server", "has several GPUs and nothing that joins them",
                 "write `fabric`, `pcie`, or both");
  if (server.nics > 0) {
    checks.rate(server.nic, "server.nics");
  }
}

void check_network(const FatTree& tree, const RegularTopology& topology, Checks& checks) {
  checks.require(tree.servers_per_leaf >= 1, "network.servers_per_leaf", "has to be at least 1");
  checks.require(tree.spines >= 1, "network.spines", "has to be at least 1");
  checks.require(tree.oversubscription > 0 && tree.core_oversubscription > 0,
                 "network.oversubscription", "has to be positive");
  checks.require(tree.leaves_per_pod == 0 || tree.cores_per_spine >= 1, "network.cores_per_spine",
                 "has to be at least 1 where there are pods");
  checks.require(topology.server.nics >= 1, "server.nics", "a fat tree is joined by NICs");
}

void check_network(const Dragonfly& fly, const RegularTopology& topology, Checks& checks) {
  const int carriers = fly.plus ? fly.spines : fly.routers;
  checks.require(fly.groups >= 2, "network.groups", "has to be at least 2");
  checks.require(fly.routers >= 1, "network.routers", "has to be at least 1");
  checks.require(!fly.plus || fly.spines >= 1, "network.spines", "has to be at least 1");
  checks.require(fly.servers_per_router >= 1, "network.servers_per_router", "has to be at least 1");
  checks.rate(fly.local, "network.local");
  checks.rate(fly.global, "network.global");
  checks.require(topology.server.nics >= 1, "server.nics", "a dragonfly is joined by NICs");
  if (fly.groups < 2) {
    return;
  }
  const std::int64_t ports = std::int64_t{carriers} * fly.global_links;
  checks.require(ports >= 1 && ports % (fly.groups - 1) == 0, "network.global_links",
                 "gives a group " + std::to_string(ports) + " global links, no multiple of the " +
                     std::to_string(fly.groups - 1) + " other groups");
  const std::int64_t places = std::int64_t{fly.groups} * fly.routers * fly.servers_per_router;
  checks.require(topology.servers <= places, "servers",
                 "is more than the " + std::to_string(places) + " places of the network");
}

void check_network(const Torus& torus, const RegularTopology& topology, Checks& checks) {
  std::int64_t places = 1;
  for (const int side : torus.sides) {
    checks.require(side >= 1, "network.sides", "has a side that is not positive");
    places = std::min<std::int64_t>(places * std::max(side, 1), std::int64_t{1} << 40U);
  }
  checks.require(!torus.sides.empty() && places == topology.servers, "network.sides",
                 "has " + std::to_string(places) + " places for " +
                     std::to_string(topology.servers) + " servers");
  checks.rate(torus.link, "network.link");
  checks.require(topology.server.nics >= 1 || topology.server.gpus == 1, "server.nics",
                 "several GPUs of a server reach the network through NICs");
}

void check_network(const FullMesh& mesh, const RegularTopology& topology, Checks& checks) {
  checks.rate(mesh.link, "network.link");
  checks.require(topology.servers <= 4096, "servers", "is more than a full mesh of 4096");
  checks.require(topology.server.nics >= 1 || topology.server.gpus == 1, "server.nics",
                 "several GPUs of a server reach the network through NICs");
}

void check_network(const SingleSwitch& /*star*/, const RegularTopology& topology, Checks& checks) {
  checks.require(topology.servers == 1 || topology.server.nics >= 1, "server.nics",
                 "several servers are joined by NICs");
}

// Only GPUs that are there, each of them once.
void check_order(const Topology& topology, Checks& checks) {
  const auto gpus = static_cast<std::int64_t>(topology.gpus());
  std::vector<std::int64_t> seen(topology.gpus(), -1);
  for (std::size_t rank = 0; rank < topology.rank_order.size(); ++rank) {
    const int gpu = topology.rank_order[rank];
    const std::string path = "rank_order." + std::to_string(rank);
    if (gpu < 0 || gpu >= gpus) {
      checks.require(false, path,
                     "there is no GPU " + std::to_string(gpu) + " among " + std::to_string(gpus));
      continue;
    }
    std::int64_t& before = seen[static_cast<std::size_t>(gpu)];
    checks.require(before < 0, path,
                   "GPU " + std::to_string(gpu) + " is rank " + std::to_string(before) +
                       " already: no permutation");
    before = static_cast<std::int64_t>(rank);
  }
  for (std::size_t gpu = 0; gpu < seen.size() && !topology.rank_order.empty(); ++gpu) {
    checks.require(seen[gpu] >= 0, "rank_order", "GPU " + std::to_string(gpu) + " has no rank");
  }
}

void check_graph(const UserGraph& graph, Checks& checks) {
  checks.require(graph.gpus >= 1, "graph.gpus", "has no GPU");
  for (std::size_t i = 0; i < graph.routes.size(); ++i) {
    const std::vector<std::size_t>& route = graph.routes[i];
    const std::string path = "graph.routes." + std::to_string(i);
    std::set<std::size_t> seen;
    for (std::size_t at = 0; at < route.size(); ++at) {
      checks.require(seen.insert(route[at]).second, path + "." + std::to_string(at),
                     "is passed a second time: the route is a loop");
      const auto joins = [&](const UserGraph::Link& link) {
        return (link.from == route[at - 1] && link.to == route[at]) ||
               (link.both_ways && link.to == route[at - 1] && link.from == route[at]);
      };
      checks.require(at == 0 || std::any_of(graph.links.begin(), graph.links.end(), joins),
                     path + "." + std::to_string(at), "no link leads there from the one before");
    }
    checks.require(route.empty() || (route.front() < graph.gpus && route.back() < graph.gpus), path,
                   "does not lead from a GPU to a GPU");
  }
}

}  // namespace

std::size_t Topology::gpus() const {
  if (const auto* graph = std::get_if<UserGraph>(&shape)) {
    return graph->gpus;
  }
  const auto& regular = std::get<RegularTopology>(shape);
  return static_cast<std::size_t>(std::max(regular.servers, 0)) *
         static_cast<std::size_t>(std::max(regular.server.gpus, 0));
}

// `nvidia-smi topo -m` of a server with 8 V100-SXM2, Oneflow-Inc/DLPerf,
// OneFlow/ConvNets/rn50_fp32_report_0821.md.
std::vector<int> dgx1_volta_links() {
  return {0, 1, 1, 2, 2, 0, 0, 0,  //
          1, 0, 2, 1, 0, 2, 0, 0,  //
          1, 2, 0, 2, 0, 0, 1, 0,  //
          2, 1, 2, 0, 0, 0, 0, 1,  //
          2, 0, 0, 0, 0, 1, 1, 2,  //
          0, 2, 0, 0, 1, 0, 2, 1,  //
          0, 0, 1, 0, 1, 2, 0, 2,  //
          0, 0, 0, 1, 2, 1, 2, 0};
}

std::vector<int> uniform_mesh(int gpus, int links_per_pair) {
  const auto n = static_cast<std::size_t>(gpus);
  std::vector<int> links(n * n, links_per_pair);
  for (std::size_t i = 0; i < n; ++i) {
    links[i * n + i] = 0;
  }
  return links;
}

Problems check(const Topology& topology) {
  Checks checks;
  if (const auto* graph = std::get_if<UserGraph>(&topology.shape)) {
    check_graph(*graph, checks);
  } else {
    const auto& regular = std::get<RegularTopology>(topology.shape);
    checks.require(regular.servers >= 1 && regular.servers <= most_servers, "servers",
                   "has to be between 1 and " + std::to_string(most_servers));
    check_server(regular.server, checks);
    std::visit([&](const auto& network) { check_network(network, regular, checks); },
               regular.network);
  }
  checks.require(topology.gpus() <= most_topology_gpus, "servers",
                 "more than " + std::to_string(most_topology_gpus) + " GPUs");
  if (topology.gpus() <= most_topology_gpus) {
    check_order(topology, checks);
  }
  return checks.take();
}

namespace {

// The first GPUs of the hybrid cube. That of the P100 has single links between the same pairs.
std::vector<int> cube_links(int gpus, bool single) {
  const std::vector<int> whole = dgx1_volta_links();
  std::vector<int> links;
  links.reserve(static_cast<std::size_t>(gpus) * static_cast<std::size_t>(gpus));
  for (std::size_t a = 0; a < static_cast<std::size_t>(gpus); ++a) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(gpus); ++b) {
      links.push_back(single ? std::min(whole[a * 8 + b], 1) : whole[a * 8 + b]);
    }
  }
  return links;
}

void describe_fabric(const Cluster& cluster, Server& server) {
  const Fabric& fabric = cluster.fabric;
  switch (fabric.kind) {
    case FabricKind::none:
      return;
    case FabricKind::switched:
      server.fabric = ServerFabric::switched;
      server.fabric_link = {fabric.per_gpu, {}};
      return;
    case FabricKind::hybrid_cube:
      server.fabric = ServerFabric::mesh;
      server.fabric_link = {fabric.pair, {}};
      server.mesh = server.gpus <= 8
                        ? cube_links(server.gpus, std::lround(fabric.per_gpu / fabric.pair) <= 4)
                        : uniform_mesh(server.gpus, 1);
      return;
    case FabricKind::full_mesh:
    case FabricKind::bridge:
      server.fabric = ServerFabric::mesh;
      server.fabric_link = {fabric.pair, {}};
      server.mesh = uniform_mesh(server.gpus, 1);
      return;
    case FabricKind::pcie_tree:
      server.sockets = fabric.crosses_sockets ? 2 : 1;
      server.pcie_switches = server.sockets;
      server.pcie = server.pcie_uplink = server.socket_link = {fabric.per_gpu, {}};
      return;
  }
}

}  // namespace

Topology topology_of(const Cluster& cluster) {
  RegularTopology regular;
  // A fabric that spans nodes makes one server of them.
  const int joined =
      cluster.fabric.spans_nodes
          ? std::clamp(cluster.fabric.max_gpus / cluster.gpus_per_node, 1, cluster.nodes)
          : 1;
  regular.servers = (cluster.nodes + joined - 1) / joined;
  regular.server.gpus = cluster.gpus_per_node * joined;
  describe_fabric(cluster, regular.server);
  regular.server.gpudirect = cluster.network.gpudirect || regular.server.sockets == 0;
  if (cluster.network.kind != NetworkKind::none) {
    regular.server.nics = cluster.nics_per_node * joined;
    regular.server.nic = {cluster.nic, {}};
  }
  Topology topology;
  topology.name = cluster.name;
  topology.shape = std::move(regular);
  return topology;
}

}  // namespace payoff
