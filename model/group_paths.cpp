// SPDX-License-Identifier: Apache-2.0
#include "model/group_paths.hpp"

#include <algorithm>
#include <string>

#include "model/cube_part.hpp"

namespace payoff {
namespace {

// Without a circle NCCL's rings take PCIe (Wang et al., "Blink", MLSys 2020, section 2); a way to a
// NIC need not close, and passes both neighbours.
Bandwidth cube_bandwidth(const Cluster& cluster, const CubePart& part, int domains) {
  const Fabric& fabric = cluster.fabric;
  const double open = domains > 1 && part.has_chain ? 2 : 0;
  const double links = part.in_circles > 0 ? part.in_circles : open;
  return links > 0 ? std::min(fabric.per_gpu, fabric.pair * links)
                   : std::min(fabric.pair, pcie_slot(cluster.gpu.architecture));
}

// A switch and a tree of PCIe switches give a GPU its whole bandwidth to whichever peers; in a mesh
// a GPU has only the links that lead to members of the group, of a hybrid cube those in circles.
void set_fabric(const Cluster& cluster, const Group& group, GroupPaths& paths) {
  const Fabric& fabric = cluster.fabric;
  switch (fabric.kind) {
    case FabricKind::full_mesh:
      paths.gpu = std::min(fabric.per_gpu, fabric.pair * (paths.local - 1));
      break;
    case FabricKind::hybrid_cube: {
      const CubePart part = worst_cube_part(fabric, group, paths.local);
      paths.gpu = cube_bandwidth(cluster, part, paths.domains);
      paths.exchange = part.in_exchange > 0
                           ? fabric.pair * part.in_exchange
                           : std::min(fabric.pair, pcie_slot(cluster.gpu.architecture));
      paths.peer = paths.local == 2 ? paths.gpu : std::min(fabric.pair, paths.gpu);
      return;
    }
    case FabricKind::bridge:
      paths.gpu = fabric.pair;
      break;
    case FabricKind::none:
    case FabricKind::switched:
    case FabricKind::pcie_tree:
      paths.gpu = fabric.per_gpu;
      break;
  }
  paths.exchange = paths.gpu;
  paths.peer = fabric.kind == FabricKind::full_mesh ? std::min(fabric.pair, paths.gpu) : paths.gpu;
}

int domain_gpus(const Cluster& cluster) {
  if (!cluster.fabric.spans_nodes) {
    return cluster.gpus_per_node;
  }
  return cluster.gpus_per_node * std::max(1, cluster.fabric.max_gpus / cluster.gpus_per_node);
}

// What a GPU and a NIC that write to each other carry. On boards of eight GPUs a PCIe switch joins
// the two, and Grace is no bottleneck: the whole slot. Cards, and boards of four fully connected
// GPUs on x86, reach a NIC over the root complex, where it gets what another card gets: 0.66 of the
// slot (share_simple of `pcie4` in profiles/fitted/network.yaml, 2 A100 cards, 20.7 GB/s).
Bandwidth slot_to_nic(const Cluster& cluster) {
  constexpr double peer_to_peer = 0.66;
  const Bandwidth slot = pcie_slot(cluster.gpu.architecture);
  const Fabric& fabric = cluster.fabric;
  const bool four =
      fabric.kind == FabricKind::full_mesh && fabric.max_gpus <= 4 && cluster.cpu != CpuVendor::arm;
  const bool direct = cluster.network.kind == NetworkKind::rdma && cluster.network.gpudirect;
  return direct && (four || cluster.gpu.card) ? slot * peer_to_peer : slot;
}

void set_network(const Cluster& cluster, const Group& group, GroupPaths& paths) {
  const int nodes_in_domain = (paths.local + group.ranks_per_node - 1) / group.ranks_per_node;
  const int local = paths.local / nodes_in_domain;
  const double nics = cluster.nics_per_node;
  const double per_gpu = nics / cluster.gpus_per_node;
  // NICs near the group's GPUs of one node; neighbours share a NIC where there are fewer.
  const double least = std::min(1.0, nics);
  const double near = std::clamp(per_gpu * local, least, nics);
  const double of_all = std::clamp(per_gpu * local * group.rivals, least, nics);
  const double shared = of_all / group.rivals;
  const int rails = std::clamp(static_cast<int>(near), 1, local);
  const Bandwidth slot = slot_to_nic(cluster);
  const Bandwidth slots = pcie_slot(cluster.gpu.architecture) * local;
  // Over the root complex a NIC is fed by one GPU, also where several share it.
  const bool behind = slot < pcie_slot(cluster.gpu.architecture);
  const Bandwidth nic = behind ? std::min(cluster.nic, slot) : cluster.nic;
  paths.domain = std::min(nic * shared, slot * local) * nodes_in_domain;
  paths.rank = std::min(nic * std::min(std::max(1.0, per_gpu), shared), slot);
  paths.line = std::min(cluster.nic * (nics / group.rivals), slots) * nodes_in_domain;
  paths.rails = rails * nodes_in_domain;
  paths.rail_line = std::min(cluster.nic * (near / rails), slots / rails);
}

void check_inside(const Cluster& cluster, const Group& group, Problems& problems) {
  const int used = std::min(group.ranks, group.ranks_per_node);
  if (used > cluster.gpus_per_node) {
    problems.push_back({"group.ranks_per_node",
                        std::to_string(used) + " ranks per node, but a node of " + cluster.name +
                            " has " + std::to_string(cluster.gpus_per_node) + " GPUs",
                        ""});
  }
  if (used > 1 && cluster.fabric.kind == FabricKind::none) {
    problems.push_back({"cluster.fabric", "no link between the GPUs of a node is described",
                        "name a fabric, or use one rank per node"});
  }
  if (used > 1 && cluster.fabric.kind != FabricKind::none && used > cluster.fabric.max_gpus) {
    problems.push_back({"cluster.fabric",
                        cluster.fabric.name + " joins at most " +
                            std::to_string(cluster.fabric.max_gpus) + " GPUs, the group has " +
                            std::to_string(used) + " in a node",
                        ""});
  }
}

void check_between(const Cluster& cluster, const Group& group, Problems& problems) {
  if (group.ranks % group.ranks_per_node != 0) {
    problems.push_back({"group.ranks",
                        std::to_string(group.ranks) + " ranks do not fill nodes of " +
                            std::to_string(group.ranks_per_node) + " evenly",
                        "collectives over nodes with different numbers of ranks are not modelled"});
    return;
  }
  const int domain = domain_gpus(cluster) / cluster.gpus_per_node * group.ranks_per_node;
  if (group.ranks <= domain) {
    return;
  }
  if (group.ranks % domain != 0) {
    problems.push_back({"group.ranks",
                        std::to_string(group.ranks) + " ranks do not fill domains of " +
                            std::to_string(domain) + " ranks evenly",
                        "collectives over domains of different sizes are not modelled"});
  }
  if (cluster.network.kind == NetworkKind::none || cluster.nics_per_node < 1 ||
      cluster.nic <= Bandwidth{}) {
    problems.push_back({"cluster.network",
                        "the group spans nodes, but no network joins the nodes of " + cluster.name,
                        "give the cluster a network and NICs, or keep the group in one node"});
  }
}

}  // namespace

Problems check_group(const Cluster& cluster, const Group& group) {
  Problems problems;
  if (group.ranks < 1 || group.ranks > most_ranks) {
    problems.push_back({"group.ranks",
                        "a group has 1 to " + std::to_string(most_ranks) + " ranks, not " +
                            std::to_string(group.ranks),
                        ""});
  }
  if (group.ranks_per_node < 1) {
    problems.push_back({"group.ranks_per_node", "must be at least 1", ""});
  }
  if (group.rivals < 1) {
    problems.push_back({"group.rivals", "must be at least 1", ""});
  }
  if (!problems.empty() || group.ranks == 1) {
    return problems;
  }
  check_inside(cluster, group, problems);
  if (group.ranks > group.ranks_per_node) {
    check_between(cluster, group, problems);
  }
  return problems;
}

Bandwidth pcie_slot(Architecture architecture) {
  switch (architecture) {
    case Architecture::pascal:
    case Architecture::volta:
    case Architecture::turing:
      return 15.75_GBps;
    case Architecture::ampere:
    case Architecture::ada:
      return 31.5_GBps;
    case Architecture::hopper:
    case Architecture::blackwell:
    case Architecture::cdna3:
      return 63_GBps;
  }
  return 15.75_GBps;
}

GroupPaths paths_of(const Cluster& cluster, const Group& group) {
  GroupPaths paths;
  paths.ranks = group.ranks;
  paths.rivals = group.rivals;
  const int node_ranks = std::min(group.ranks, group.ranks_per_node);
  const int domain_nodes = domain_gpus(cluster) / cluster.gpus_per_node;
  paths.local = std::min(group.ranks, node_ranks * domain_nodes);
  paths.domains = (group.ranks + paths.local - 1) / paths.local;
  if (paths.local > 1) {
    set_fabric(cluster, group, paths);
  }
  if (paths.domains > 1) {
    set_network(cluster, group, paths);
  }
  return paths;
}

}  // namespace payoff
