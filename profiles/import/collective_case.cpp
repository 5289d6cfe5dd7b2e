// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/collective_case.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/group_paths.hpp"
#include "profiles/import/split.hpp"

namespace payoff {
namespace {

using Reasons = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, Algorithm>, 4> algorithms{{
    {"ring", Algorithm::ring},
    {"tree", Algorithm::tree},
    {"nvls", Algorithm::nvls},
    {"nvlstree", Algorithm::nvls_tree},
}};

constexpr std::array<std::pair<std::string_view, Protocol>, 3> protocols{{
    {"ll", Protocol::ll},
    {"ll128", Protocol::ll128},
    {"simple", Protocol::simple},
}};

template <class Table>
auto look_up(const Table& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, [](const auto& entry) { return entry.first; });
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

// "a100-sxm-80" is an "a100".
std::string family(const std::string& gpu) { return gpu.substr(0, gpu.find('-')); }

NcclRelease release_of_its_time(Architecture architecture) {
  switch (architecture) {
    case Architecture::hopper:
    case Architecture::cdna3:
      return NcclRelease::v2_23;
    case Architecture::blackwell:
      return newest_nccl;
    default:
      return NcclRelease::v2_12;
  }
}

void read_settings(const NcclTable& table, MeasuredCollective& measured, Reasons& reasons) {
  for (const std::string& setting : table.settings) {
    const std::size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (key == "algorithm") {
      measured.algorithm = look_up(algorithms, value).value_or(Algorithm::none);
      if (measured.algorithm == Algorithm::none) {
        reasons.push_back(fmt::format("settings: algorithm {} is not modelled", value));
      }
    } else if (key == "protocol") {
      measured.protocol = look_up(protocols, value).value_or(Protocol::none);
      if (measured.protocol == Protocol::none) {
        reasons.push_back(fmt::format("settings: protocol {} is not modelled", value));
      }
    } else if (key == "symmetric-memory" || key == "shared-host") {
      measured.irregular = true;
    } else if (key == "nic-not-local") {
      measured.misplaced = true;
    }
  }
}

void read_launch(const std::string& launch, MeasuredCollective& measured) {
  measured.graph = launch.ends_with("-graph");
  measured.launch = launch.starts_with("single-process")    ? Launch::single_process
                    : launch.starts_with("process-per-gpu") ? Launch::process_per_gpu
                                                            : Launch::unknown;
}

template <class Part, class Read>
const std::optional<Part>& part_of(std::map<std::string, std::optional<Part>>& known,
                                   const std::string& name, const Read& read) {
  const auto [place, added] = known.try_emplace(name);
  if (added) {
    place->second = read();
  }
  return place->second;
}

template <class T>
std::optional<T> value_of(std::optional<Profile<T>> profile) {
  return profile ? std::optional<T>(std::move(profile->value)) : std::nullopt;
}

// A group larger than a rack takes as few racks as it fills evenly, each with the same number of
// nodes: whoever shares a machine of racks seldom has whole ones.
void spread_over_racks(Cluster& cluster) {
  const int most = std::max(1, cluster.fabric.max_gpus / cluster.gpus_per_node);
  if (!cluster.fabric.spans_nodes || cluster.network.kind == NetworkKind::none ||
      cluster.nodes <= most) {
    return;
  }
  int racks = (cluster.nodes + most - 1) / most;
  while (cluster.nodes % racks != 0) {
    ++racks;
  }
  cluster.fabric.max_gpus = cluster.nodes / racks * cluster.gpus_per_node;
}

}  // namespace

std::string fabric_profile(const std::string& intra, const Gpu& gpu) {
  return intra == "nvlink-bridge" && gpu.architecture == Architecture::turing
             ? "nvlink-bridge-turing"
         : intra == "nvswitch4" && gpu.name == "h800"  ? "nvswitch4-h800"
         : intra == "nvswitch5" && gpu.name == "gb200" ? "nvl72"
                                                       : intra;
}

std::optional<NcclRelease> nccl_release(const std::string& version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.' ||
      std::from_chars(first.ptr + 1, end, minor).ec != std::errc() || major != 2) {
    return std::nullopt;
  }
  return minor >= 28   ? NcclRelease::v2_28
         : minor >= 23 ? NcclRelease::v2_23
         : minor >= 18 ? NcclRelease::v2_18
         : minor >= 12 ? NcclRelease::v2_12
                       : NcclRelease::v2_8;
}

CpuVendor CollectiveCases::cpu_of(const NcclTable& table, const std::string& network) {
  if (!std::exchange(cpus_known_, true)) {
    for (const std::string& name : context_.library.names(ProfileKind::cluster)) {
      if (const auto cluster = read_cluster(name, std::nullopt, context_)) {
        const Cluster& value = cluster->value;
        for (const std::string& fabric : {value.fabric.name, std::string("none")}) {
          cpus_.try_emplace(
              fmt::format("{}/{}/{}", family(value.gpu.name), fabric, value.network.name),
              value.cpu);
        }
      }
    }
  }
  const auto found = cpus_.find(fmt::format("{}/{}/{}", family(table.gpu), table.intra, network));
  return found == cpus_.end() ? CpuVendor::intel : found->second;
}

void CollectiveCases::take_parts(const NcclTable& table, Cluster& cluster,
                                 std::vector<std::string>& reasons) {
  // A name that no profile has is a reason of the table, not a mistake in a profile.
  const auto known = [&](ProfileKind kind, const std::string& name) {
    return context_.library.has(kind, name);
  };
  if (const auto& gpu = part_of(gpus_, table.gpu, [&] {
        return value_of(known(ProfileKind::gpu, table.gpu)
                            ? read_gpu(table.gpu, std::nullopt, context_)
                            : std::nullopt);
      })) {
    cluster.gpu = *gpu;
  } else {
    reasons.push_back(fmt::format("cluster.gpu: no profile of {}", table.gpu));
  }
  if (table.intra != "none") {
    const std::string name = fabric_profile(table.intra, cluster.gpu);
    const auto& fabric = part_of(fabrics_, name, [&] {
      return value_of(known(ProfileKind::fabric, name) ? read_fabric(name, std::nullopt, context_)
                                                       : std::nullopt);
    });
    if (fabric) {
      cluster.fabric = *fabric;
    } else {
      reasons.push_back(fmt::format("cluster.intra: no profile of {}", table.intra));
    }
  }
  if (table.transport != "none") {
    const auto& network = part_of(networks_, table.transport, [&] {
      return value_of(known(ProfileKind::network, table.transport)
                          ? read_network(table.transport, std::nullopt, context_)
                          : std::nullopt);
    });
    if (network) {
      cluster.network = *network;
    } else {
      reasons.push_back(fmt::format("cluster.transport: no profile of {}", table.transport));
    }
    if (table.nics_per_node < 1 || table.nic_bandwidth <= Bandwidth{}) {
      reasons.emplace_back("cluster.nics_per_node, cluster.nic_gbps: not stated");
    }
  }
}

CollectiveCases::Result CollectiveCases::from(const NcclTable& table) {
  Reasons reasons;
  MeasuredCollective measured;
  measured.id = table.id;
  measured.source = table.source;
  measured.system = split_system(table);
  if (const auto collective = modelled_collective(table.collective)) {
    measured.collective = *collective;
  } else {
    reasons.push_back(fmt::format("collective: {} is not modelled", table.collective));
  }
  if (table.gpus < 2) {
    reasons.emplace_back("gpus: one rank sends nothing");
  }
  Cluster& cluster = measured.cluster;
  cluster.name = measured.system;
  cluster.gpus_per_node = table.gpus_per_node;
  cluster.nodes = table.nodes;
  cluster.nics_per_node = table.nics_per_node;
  cluster.nic = table.nic_bandwidth;
  take_parts(table, cluster, reasons);
  if (!reasons.empty()) {
    return {std::nullopt, reasons};
  }
  spread_over_racks(cluster);
  cluster.cpu = cpu_of(table, cluster.network.name);
  measured.group = {table.gpus, table.gpus_per_node, 1};
  for (const Problem& problem : check_group(cluster, measured.group)) {
    reasons.push_back(problem.path + ": " + problem.message);
  }
  measured.release =
      nccl_release(table.nccl_version).value_or(release_of_its_time(cluster.gpu.architecture));
  read_launch(table.launch, measured);
  read_settings(table, measured, reasons);
  for (const NcclRow& row : table.rows) {
    measured.points.push_back({row.size, row.in_place.value_or(row.out_of_place)});
  }
  return reasons.empty() ? Result{std::move(measured), {}} : Result{std::nullopt, reasons};
}

}  // namespace payoff
