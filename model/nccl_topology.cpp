// SPDX-License-Identifier: Apache-2.0
#include "model/nccl_topology.hpp"

#include <algorithm>
#include <array>

#include "model/nccl_constants.hpp"

namespace payoff {
namespace {

std::size_t generation_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::pascal:
    case Architecture::volta:
    case Architecture::turing:
      return 0;
    case Architecture::ampere:
    case Architecture::ada:
    case Architecture::cdna3:  // RCCL took its constants from NCCL of that time
      return 1;
    case Architecture::hopper:
      return 2;
    case Architecture::blackwell:
      return 3;
  }
  return 0;
}

// What NCCL counts for a link of 25 GB/s (50 for NVLink 5) or an x16 slot.
double seen_share(LinkGeneration generation) {
  switch (generation) {
    case LinkGeneration::nvlink1:
      return 18.0 / 20;
    case LinkGeneration::nvlink2:
    case LinkGeneration::nvlink3:
      return 20.0 / 25;
    case LinkGeneration::nvlink4:
      return 20.6 / 25;
    case LinkGeneration::nvlink5:
      return 40.1 / 50;
    case LinkGeneration::pcie3:
    case LinkGeneration::pcie4:
    case LinkGeneration::pcie5:
      return 12.0 / 15.75;
    case LinkGeneration::xgmi3:
      return 48.0 / 64;
    case LinkGeneration::none:
      break;
  }
  return 1.0;
}

const nccl::Speeds& intra_speeds(std::size_t generation) {
  return generation >= 3   ? nccl::intra_blackwell
         : generation == 2 ? nccl::intra_hopper
                           : nccl::intra_before_hopper;
}

const nccl::Speeds& inter_speeds(std::size_t generation) {
  return generation >= 3   ? nccl::inter_blackwell
         : generation == 2 ? nccl::inter_hopper
                           : nccl::inter_before_hopper;
}

// The largest speed that fits; a link slower than all of them is used as it is.
double speed_within(const nccl::Speeds& speeds, double limit) {
  for (const double speed : speeds) {
    if (speed > 0 && speed <= limit * 1.0001) {
      return speed;
    }
  }
  return limit;
}

// Channels inside a domain: the fewest that use most of the links, none faster than one or two
// NVLinks, which is what the search ends with on NVSwitch systems (12 x 20 on 8 A100, 12 x 30 on
// 8 H100).
NcclChannels search_inside(std::size_t generation, double gpu) {
  constexpr std::array<double, nccl::generation_count> fastest{20, 20, 30, 60};
  NcclChannels best;
  for (const double speed : intra_speeds(generation)) {
    if (speed <= 0 || speed > fastest.at(generation) || speed > gpu) {
      continue;
    }
    const int count = std::min(static_cast<int>(gpu / speed), nccl::most_channels);
    if (count * speed > best.count * best.intra * 1.0001) {
      best = {count, speed, speed};
    }
  }
  return best.count > 0 ? best : NcclChannels{1, gpu, gpu};
}

// LL128 wants the NIC behind a PCIe switch of the GPU. Boards of four fully connected GPUs have no
// such switch; on Grace, NCCL takes the link from GPU to CPU for one from 2.27 on.
bool nics_are_near(const Cluster& cluster, NcclRelease release) {
  const bool host_bridge = cluster.fabric.kind == FabricKind::full_mesh;
  return !host_bridge || (cluster.cpu == CpuVendor::arm && release >= NcclRelease::v2_28);
}

// Over the network: one channel for each NIC.
NcclChannels search_between(std::size_t generation, double gpu, const GroupPaths& paths,
                            double rail) {
  const double inter = speed_within(inter_speeds(generation), rail);
  const int count = std::max(1, std::min(paths.rails, nccl::most_channels));
  const double inside = paths.local > 1 ? std::min(inter, gpu / count) : inter;
  return {count, inside, inter};
}

}  // namespace

NcclTopology nccl_topology(const Cluster& cluster, const GroupPaths& paths, NcclRelease release) {
  const Fabric& fabric = cluster.fabric;
  NcclTopology topology;
  topology.generation = generation_of(cluster.gpu.architecture);
  topology.nvlink = paths.local > 1 && fabric.kind != FabricKind::pcie_tree;
  topology.nvls =
      topology.nvlink && fabric.nvls && topology.generation >= 2 && release >= NcclRelease::v2_18;
  const bool near_network = cluster.network.kind == NetworkKind::rdma &&
                            cluster.network.gpudirect && nics_are_near(cluster, release);
  topology.ll128 = cluster.gpu.architecture != Architecture::pascal &&
                   (paths.local == 1 || topology.nvlink) && (paths.domains == 1 || near_network);

  const double gpu = paths.gpu / 1_GBps * seen_share(fabric.generation);
  if (paths.domains == 1) {
    topology.ring = topology.tree = search_inside(topology.generation, gpu);
  } else {
    const double rail = paths.rail_line / 1_GBps * nccl::line_rate_seen;
    topology.ring = topology.tree = search_between(topology.generation, gpu, paths, rail);
    if (paths.local > 1) {
      // A tree passes a GPU's data through its node twice: its channels are widened inside.
      NcclChannels& tree = topology.tree;
      tree.intra = std::max(tree.intra, std::min(2 * tree.inter, gpu / tree.count));
    }
  }
  if (topology.nvls) {
    const int heads = std::clamp(paths.local, 1, 8);
    const double inside = speed_within(intra_speeds(topology.generation), gpu / heads);
    topology.in_switch = {heads, inside, paths.domains == 1 ? inside : topology.ring.inter};
  }
  return topology;
}

}  // namespace payoff
