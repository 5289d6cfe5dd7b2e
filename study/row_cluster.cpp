// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "model/decimal_text.hpp"
#include "profiles/import/collective_case.hpp"
#include "study/row_parts.hpp"
#include "study/unstated_gpu.hpp"

namespace payoff {
namespace {

// Names of the published rows that leave something open, and the part they most likely mean.
struct Alias {
  std::string_view row;
  std::string_view profile;
};
constexpr std::array gpu_aliases{
    Alias{"v100", "v100-sxm2-16"},      Alias{"v100-sxm2", "v100-sxm2-16"},
    Alias{"v100-32", "v100-sxm2-32"},   Alias{"v100-sxm3", "v100-sxm3-32"},
    Alias{"a100", "a100-sxm-40"},       Alias{"a100-40", "a100-sxm-40"},
    Alias{"a100-sxm", "a100-sxm-40"},   Alias{"a100-80", "a100-sxm-80"},
    Alias{"a100-pcie-40", "a100-pcie"}, Alias{"h100", "h100-sxm"},
    Alias{"h200", "h200-sxm"},          Alias{"b200", "b200-sxm"},
    Alias{"p100", "p100-pcie"},         Alias{"h800-sxm", "h800"},
    Alias{"v100-pcie-16", "v100-pcie"}};

// What a board of this kind has inside a node, where the row does not say.
struct Board {
  std::string_view gpu;
  int gpus_per_node;
  std::string_view fabric;
};
constexpr std::array boards{Board{"v100-sxm2-16", 8, "nvlink-mesh-v2"},
                            Board{"v100-sxm2-32", 8, "nvlink-mesh-v2"},
                            Board{"v100-sxm3-32", 16, "nvswitch2"},
                            Board{"a100-sxm-40", 8, "nvswitch3"},
                            Board{"a100-sxm-80", 8, "nvswitch3"},
                            Board{"a100-sxm-40", 4, "nvlink-mesh-v3"},
                            Board{"h100-sxm", 8, "nvswitch4"},
                            Board{"h200-sxm", 8, "nvswitch4"},
                            Board{"b200-sxm", 8, "nvswitch5"},
                            Board{"h800", 8, "nvswitch4-h800"},
                            Board{"gb200", 4, "nvl72"},
                            Board{"gh200", 4, "nvlink-gh200"},
                            Board{"mi300x", 8, "xgmi"},
                            Board{"h20", 8, "nvswitch4"}};

// NICs of the vendor's own systems (DGX), for rows that name the network but not the cards.
struct SystemNics {
  std::string_view gpu;
  int count;
  Bandwidth rate;
};
constexpr std::array dgx{
    SystemNics{"v100-sxm2-16", 4, 100_Gbps}, SystemNics{"v100-sxm2-32", 4, 100_Gbps},
    SystemNics{"v100-sxm3-32", 8, 100_Gbps}, SystemNics{"a100-sxm-40", 8, 200_Gbps},
    SystemNics{"a100-sxm-80", 8, 200_Gbps},  SystemNics{"h100-sxm", 8, 400_Gbps},
    SystemNics{"h200-sxm", 8, 400_Gbps},     SystemNics{"b200-sxm", 8, 400_Gbps},
    SystemNics{"gb200", 4, 400_Gbps}};

bool through_host_memory(const TrainingRow& row, const Cluster& cluster) {
  const bool slots = row.cluster.intra.value_or("").starts_with("pcie");
  return row.cluster.intra_path == "host-memory" || (slots && !cluster.gpu.peer_to_peer);
}

// The same slots across sockets: what NCCL has without peer-to-peer copies.
std::string across_sockets(const std::map<std::string, Fabric>& fabrics, const std::string& slots) {
  for (const auto& [name, fabric] : fabrics) {
    if (fabric.twin == slots) {
      return name;
    }
  }
  return slots;
}

std::string network_name(const TrainingRow& row, const std::string& transport) {
  return transport == "slingshot"              ? "slingshot-ofi"
         : transport == "tcp" && over_mpi(row) ? "tcp-mpi"
                                               : transport;
}

}  // namespace

std::string gpu_profile(const std::string& name) {
  for (const Alias& alias : gpu_aliases) {
    if (alias.row == name) {
      return std::string(alias.profile);
    }
  }
  return name;
}

int board_of(const std::string& profile) {
  constexpr int usual = 8;
  for (const Board& board : boards) {
    if (board.gpu == profile) {
      return board.gpus_per_node;
    }
  }
  return usual;
}

bool comes_by(const std::string& profile, int gpus_per_node) {
  const auto is_of = [&](const Board& board) { return board.gpu == profile; };
  return std::none_of(boards.begin(), boards.end(), is_of) ||
         std::any_of(boards.begin(), boards.end(), [&](const Board& board) {
           return is_of(board) && board.gpus_per_node == gpus_per_node;
         });
}

bool has_usual_nics(const std::string& profile) {
  return std::any_of(dgx.begin(), dgx.end(),
                     [&](const SystemNics& system) { return system.gpu == profile; });
}

std::string RowReader::gpu_name() const {
  if (!row_.cluster.gpu || *row_.cluster.gpu == "unknown") {
    reason(unstated_gpu(row_, catalogue_) == nullptr
               ? "GPU not stated"
               : "an input: tells how fast the GPU is, which its source does not name");
    return {};
  }
  std::string profile = gpu_profile(*row_.cluster.gpu);
  if (profile != *row_.cluster.gpu) {
    assume("gpu " + profile + " for " + *row_.cluster.gpu);
  } else if (!catalogue_.gpus.contains(profile)) {
    reason("no profile of the GPU " + profile);
  }
  return profile;
}

// The number above zero before a unit in the words of a source.
std::optional<double> RowReader::stated_number(const std::string& unit) const {
  const std::string& text = *row_.cluster.gpu_variant;
  const auto at = text.find(" " + unit);
  if (at == std::string::npos || at == 0) {
    return std::nullopt;
  }
  const auto before = text.find_last_not_of("0123456789.", at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const double number =
      begin < at ? detail::read_decimal(text.substr(begin, at - begin)).number : 0;
  return number > 0 ? std::optional(number) : std::nullopt;
}

// Other memory and another limit on power than the data sheet's. Dynamic power goes as the cube of
// the clock (voltage follows it), so the limit takes the clock down by its cube root at most.
void RowReader::vary(Gpu& gpu) const {
  if (!row_.cluster.gpu_variant) {
    return;
  }
  if (const auto rate = stated_number("TB/s")) {
    gpu.memory_bandwidth = *rate * 1_TBps;
    assume("memory of " + *row_.cluster.gpu_variant);
  }
  if (const auto limit = stated_number("W cap"); limit && Watts{*limit} < gpu.power) {
    const double clock = std::cbrt(*limit / gpu.power.si);
    for (FlopRate& peak : gpu.peak.values) {
      peak = clock * peak;
    }
    assume("clock lower by the cube root of the limit on power, or not lower");
  }
}

std::string RowReader::fabric_name(const Cluster& cluster) const {
  const std::string& gpu = cluster.gpu.name;
  const std::string stated = row_.cluster.intra.value_or("unknown");
  if (through_host_memory(row_, cluster)) {
    assume("through host memory as between the sockets of a PCI Express server");
    const std::string slots = stated.starts_with("pcie")                         ? stated
                              : cluster.gpu.architecture >= Architecture::ampere ? "pcie4"
                                                                                 : "pcie3";
    return across_sockets(catalogue_.fabrics, slots);
  }
  if (stated == "none") {
    return {};
  }
  if (stated != "unknown") {
    const auto known = catalogue_.gpus.find(gpu);
    return known == catalogue_.gpus.end() ? stated : fabric_profile(stated, known->second);
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
      cluster.nics_per_node = row_.cluster.nics_per_node.value_or(system.count);
      cluster.nic = row_.cluster.nic_bandwidth.value_or(system.rate);
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
    vary(cluster.gpu);
  }
  if (!row_.cluster.gpus) {
    reason("number of GPUs not stated");
    return cluster;
  }
  if (!row_.cluster.nodes && *row_.cluster.gpus > row_.cluster.gpus_per_node.value_or(1)) {
    reason("number of nodes not stated");
  }
  cluster.nodes = row_.cluster.nodes.value_or(1);
  if (cluster.nodes < 1 || *row_.cluster.gpus < 1 || *row_.cluster.gpus % cluster.nodes != 0) {
    reason("GPUs unevenly spread over nodes");
    return cluster;
  }
  cluster.gpus_per_node = *row_.cluster.gpus / cluster.nodes;
  if (cluster.gpus_per_node > 1) {
    const std::string fabric = fabric_name(cluster);
    if (const auto found = catalogue_.fabrics.find(fabric); found != catalogue_.fabrics.end()) {
      cluster.fabric = found->second;
    } else if (!fabric.empty()) {
      reason("no profile of the fabric " + fabric);
    }
  }
  const bool one_domain =
      cluster.fabric.spans_nodes && *row_.cluster.gpus <= cluster.fabric.max_gpus;
  const std::string transport = row_.cluster.transport.value_or("none");
  if (cluster.nodes > 1 && !(one_domain && (transport == "none" || transport == "unknown"))) {
    network(cluster);
  }
  const std::string& board = cluster.gpu.name;
  cluster.cpu = board == "v100-sxm2-16" || board == "v100-sxm2-32" || board == "v100-sxm3-32"
                    ? CpuVendor::intel
                    : CpuVendor::amd;
  return cluster;
}

}  // namespace payoff
