// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"

namespace payoff::test {

// Two stages of 8 GPUs, a node each: dp 8 inside, so that sends alone cross the NICs.
inline Cluster two_nodes() {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.fabric = {"switch",
                    FabricKind::switched,
                    LinkGeneration::nvlink3,
                    300_GBps,
                    300_GBps,
                    8,
                    false,
                    false,
                    false,
                    {}};
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.name = "fabric";
  cluster.gpus_per_node = 8;
  cluster.nics_per_node = 1;
  cluster.nic = 10_GBps;
  cluster.nodes = 2;
  return cluster;
}

}  // namespace payoff::test
