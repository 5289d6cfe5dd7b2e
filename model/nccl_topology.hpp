// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/group_paths.hpp"
#include "model/hardware.hpp"
#include "model/nccl_constants.hpp"

// What NCCL's topology search finds for a group: how many channels a pattern gets and what each of
// them carries (NVIDIA/nccl, src/graph/search.cc). The search itself works on the PCI tree; here it
// is a short rule: inside a domain the fewest channels of a speed that it tries which use most of
// the links, between domains one channel for each NIC at the fastest speed that the NIC carries.
// It gives 12 x 20 on 8 A100, 12 x 30 on 8 H100, 8 x 24 over 8 HDR NICs and 8 x 48 over 8 NDR NICs.

namespace payoff {

struct NcclChannels {
  int count{};
  double intra{};  // GB/s of one channel inside a domain
  double inter{};  // and between domains
};

struct NcclTopology {
  std::size_t generation{};  // row of the constants
  bool nvlink{};
  bool nvls{};
  bool ll128{};
  NcclChannels ring;
  NcclChannels tree;
  NcclChannels in_switch;  // NVLS: one channel for each GPU of the domain, at most 8
};

[[nodiscard]] NcclTopology nccl_topology(const Cluster& cluster, const GroupPaths& paths,
                                         NcclRelease release);

}  // namespace payoff
