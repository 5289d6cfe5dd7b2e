// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"

// Machines for tests of collectives, with laws of round numbers, so that every expected time can be
// written down.

namespace payoff::test {

struct StepTimes {
  Seconds ll, ll128, simple, nvls;
};
struct LinkShares {
  double ll, ll128, simple, nvls;
};

inline LinkLaw link_law(Seconds launch, const StepTimes& steps, const LinkShares& shares) {
  LinkLaw law;
  law.launch = launch;
  law.step_ll = steps.ll;
  law.step_ll128 = steps.ll128;
  law.step_simple = steps.simple;
  law.step_nvls = steps.nvls;
  law.share_ll = shares.ll;
  law.share_ll128 = shares.ll128;
  law.share_simple = shares.simple;
  law.share_nvls = shares.nvls;
  return law;
}

inline LinkLaw plain_law() {
  return link_law(10_us, {1_us, 2_us, 4_us, 20_us}, {1.0, 1.0, 0.8, 0.9});
}

inline Cluster eight_gpus(Architecture architecture, LinkGeneration generation, Bandwidth per_gpu,
                          Bandwidth nic) {
  Cluster cluster;
  cluster.name = "eight";
  cluster.gpu.architecture = architecture;
  cluster.fabric.name = "switch";
  cluster.fabric.kind = FabricKind::switched;
  cluster.fabric.generation = generation;
  cluster.fabric.per_gpu = per_gpu;
  cluster.fabric.pair = per_gpu;
  cluster.fabric.max_gpus = 8;
  cluster.fabric.law = plain_law();
  cluster.network.name = "network";
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.gpudirect = true;
  cluster.network.sums = true;
  cluster.network.law = plain_law();
  cluster.gpus_per_node = 8;
  cluster.nics_per_node = 8;
  cluster.nic = nic;
  return cluster;
}

inline Cluster dgx_h100() {
  Cluster cluster = eight_gpus(Architecture::hopper, LinkGeneration::nvlink4, 450_GBps, 400_Gbps);
  cluster.fabric.nvls = true;
  return cluster;
}

inline Cluster dgx_a100() {
  Cluster cluster = eight_gpus(Architecture::ampere, LinkGeneration::nvlink3, 300_GBps, 200_Gbps);
  cluster.cpu = CpuVendor::amd;
  return cluster;
}

inline Cluster pcie_v100() {
  Cluster cluster = eight_gpus(Architecture::volta, LinkGeneration::pcie3, 15.75_GBps, 100_Gbps);
  cluster.fabric.kind = FabricKind::pcie_tree;
  cluster.gpus_per_node = 4;
  cluster.nics_per_node = 1;
  return cluster;
}

// A DGX-1V.
inline Cluster volta_cube() {
  Cluster cluster;
  cluster.gpu.architecture = Architecture::volta;
  cluster.fabric.kind = FabricKind::hybrid_cube;
  cluster.fabric.per_gpu = 150_GBps;
  cluster.fabric.pair = 25_GBps;
  cluster.fabric.max_gpus = 8;
  cluster.gpus_per_node = 8;
  cluster.network.kind = NetworkKind::rdma;
  cluster.nics_per_node = 4;
  cluster.nic = 12.5_GBps;
  return cluster;
}

}  // namespace payoff::test
