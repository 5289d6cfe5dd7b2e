// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "model/group_paths.hpp"
#include "model/hardware.hpp"
#include "model/nccl_constants.hpp"
#include "model/nccl_topology.hpp"

// NCCL's own estimate for one algorithm and protocol, before the corrections that depend on the
// size: time_us = latency + bytes * microseconds_per_byte (NVIDIA/nccl, src/graph/tuning.cc,
// ncclTopoTuneModel, at the tags that model/nccl_constants.hpp names).

namespace payoff {

namespace nccl {
// In tables by protocol, where LL is first.
[[nodiscard]] constexpr std::size_t place_of(Protocol p) { return index(p) - 1; }
}  // namespace nccl

struct NcclGroup {
  const Cluster& cluster;
  const GroupPaths& paths;
  const NcclTopology& topology;
  NcclRelease release;
};

struct NcclEstimate {
  double latency_us{};
  double microseconds_per_byte{};  // 0 where NCCL has no such combination
};

[[nodiscard]] NcclEstimate nccl_estimate(Collective collective, Algorithm algorithm,
                                         Protocol protocol, const NcclGroup& group);

}  // namespace payoff
