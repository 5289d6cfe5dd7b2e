// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "study/row_parts.hpp"

namespace payoff {
namespace {

// Names of the published rows that leave something open, and the part they most likely mean.
struct Alias {
  std::string_view row;
  std::string_view profile;
};
constexpr std::array gpu_aliases{Alias{"v100", "v100-sxm2-16"}, Alias{"v100-32", "v100-sxm2-32"},
                                 Alias{"a100", "a100-sxm-40"}};

// What a board of this kind has inside a node, where the row does not say.
struct Board {
  std::string_view gpu;
  int gpus_per_node;
  std::string_view fabric;
};
constexpr std::array boards{
    Board{"v100-sxm2-16", 8, "nvlink-mesh-v2"}, Board{"v100-sxm2-32", 8, "nvlink-mesh-v2"},
    Board{"v100-sxm3-32", 16, "nvswitch2"},     Board{"a100-sxm-40", 8, "nvswitch3"},
    Board{"a100-sxm-80", 8, "nvswitch3"},       Board{"a100-sxm-40", 4, "nvlink-mesh-v3"},
    Board{"h100-sxm", 8, "nvswitch4"},          Board{"h200-sxm", 8, "nvswitch4"},
    Board{"b200-sxm", 8, "nvswitch5"}};

// NICs of the vendor's own systems (DGX), for rows that name the network but not the cards.
struct SystemNics {
  std::string_view gpu;
  int count;
  Bandwidth rate;
};
constexpr std::array dgx{
    SystemNics{"v100-sxm2-16", 4, 100_Gbps}, SystemNics{"v100-sxm2-32", 4, 100_Gbps},
    SystemNics{"v100-sxm3-32", 8, 100_Gbps}, SystemNics{"a100-sxm-40", 8, 200_Gbps},
    SystemNics{"a100-sxm-80", 8, 200_Gbps},  SystemNics{"h100-sxm", 8, 400_Gbps}};

std::string network_name(const TrainingRow& row, const std::string& transport) {
  return transport == "slingshot"              ? "slingshot-ofi"
         : transport == "tcp" && over_mpi(row) ? "tcp-mpi"
                                               : transport;
}

}  // namespace

std::string RowReader::gpu_name() const {
  if (!row_.cluster.gpu || *row_.cluster.gpu == "unknown") {
    reason("GPU not stated");
    return {};
  }
  for (const Alias& alias : gpu_aliases) {
    if (alias.row == *row_.cluster.gpu) {
      assume("gpu " + std::string(alias.profile) + " for " + std::string(alias.row));
      return std::string(alias.profile);
    }
  }
  if (!catalogue_.gpus.contains(*row_.cluster.gpu)) {
    reason("no profile of the GPU " + *row_.cluster.gpu);
  }
  if (row_.cluster.gpu_variant && row_.cluster.gpu_variant->find("GB/s") == std::string::npos &&
      row_.cluster.gpu_variant->find("TB/s") != std::string::npos) {
    reason("a variant of the GPU without a profile: " + *row_.cluster.gpu_variant);
  }
  return *row_.cluster.gpu;
}

std::string RowReader::fabric_name(const std::string& gpu) const {
  std::string stated = row_.cluster.intra.value_or("unknown");
  if (stated == "none") {
    return {};
  }
  if (stated != "unknown") {
    return stated;
  }
  for (const Board& board : boards) {
    if (board.gpu == gpu && board.gpus_per_node == row_.cluster.gpus_per_node.value_or(0)) {
      assume("fabric " + std::string(board.fabric) + " of a board of this kind");
      return std::string(board.fabric);
    }
  }
  reason("links inside the node not stated");
  return {};
}

void RowReader::network(Cluster& cluster) const {
  const std::string transport = row_.cluster.transport.value_or("unknown");
  const auto network = catalogue_.networks.find(network_name(row_, transport));
  if (network == catalogue_.networks.end()) {
    reason(transport == "unknown" || transport == "none"
               ? "network between nodes not stated"
               : "no profile of the network " + transport);
    return;
  }
  cluster.network = network->second;
  if (row_.cluster.nics_per_node && row_.cluster.nic_bandwidth) {
    cluster.nics_per_node = *row_.cluster.nics_per_node;
    cluster.nic = *row_.cluster.nic_bandwidth;
    return;
  }
  for (const SystemNics& system : dgx) {
    if (system.gpu == cluster.gpu.name && transport == "ib") {
      cluster.nics_per_node = system.count;
      cluster.nic = system.rate;
      assume("NICs of a DGX with this GPU");
      return;
    }
  }
  reason("NICs not stated");
}

// The GPUs that the run used; a node that is partly used counts with these only.
Cluster RowReader::cluster() const {
  Cluster cluster;
  cluster.name = row_.source;
  const std::string gpu = gpu_name();
  if (const auto found = catalogue_.gpus.find(gpu); found != catalogue_.gpus.end()) {
    cluster.gpu = found->second;
  }
  if (!row_.cluster.gpus) {
    reason("number of GPUs not stated");
    return cluster;
  }
  cluster.nodes = row_.cluster.nodes.value_or(1);
  if (*row_.cluster.gpus % cluster.nodes != 0) {
    reason("GPUs unevenly spread over nodes");
    return cluster;
  }
  cluster.gpus_per_node = *row_.cluster.gpus / cluster.nodes;
  if (cluster.gpus_per_node > 1) {
    const std::string fabric = fabric_name(gpu);
    if (const auto found = catalogue_.fabrics.find(fabric); found != catalogue_.fabrics.end()) {
      cluster.fabric = found->second;
    } else if (!fabric.empty()) {
      reason("no profile of the fabric " + fabric);
    }
  }
  if (cluster.nodes > 1) {
    network(cluster);
  }
  cluster.cpu = gpu == "v100-sxm2-16" || gpu == "v100-sxm2-32" || gpu == "v100-sxm3-32"
                    ? CpuVendor::intel
                    : CpuVendor::amd;
  return cluster;
}

}  // namespace payoff
