// SPDX-License-Identifier: Apache-2.0
#include "model/topology.hpp"

#include <algorithm>
#include <utility>

#include "model/cube_part.hpp"

namespace payoff {

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

namespace {

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
      server.mesh = server.gpus <= 8 ? cube_links(server.gpus, is_single_cube(fabric))
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

bool has_background(const Topology& topology) {
  return std::any_of(topology.background.begin(), topology.background.end(),
                     [](const BackgroundLoad& load) { return load.mean > 0 || load.sd > 0; });
}

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
    // Several NICs of one GPU work as one: channels and rails of NCCL use all of them.
    const int of_gpu = std::max(1, cluster.nics_per_node / cluster.gpus_per_node);
    const int nics = cluster.nics_per_node / of_gpu;
    regular.server.nics = nics * joined;
    regular.server.nic = {cluster.nic * cluster.nics_per_node / nics, {}};
  }
  Topology topology;
  topology.name = cluster.name;
  topology.shape = std::move(regular);
  return topology;
}

}  // namespace payoff
