// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"

// Machines for tests of collectives, with laws of round numbers, so that every expected time can be
// written down.

namespace payoff::test {

inline LinkLaw plain_law() {
  LinkLaw law;
  law.launch = 10_us;
  law.step_ll = 1_us;
  law.step_ll128 = 2_us;
  law.step_simple = 4_us;
  law.step_nvls = 20_us;
  law.share_ll = 1.0;
  law.share_ll128 = 1.0;
  law.share_simple = 0.8;
  law.share_nvls = 0.9;
  return law;
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

}  // namespace payoff::test
