// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"

namespace payoff {

// What the CPU takes to post one message to the network, as NCCL's tuner counts it (NVIDIA/nccl,
// src/graph/tuning.cc, getNetOverhead, the same from 2.18 on): 1 us, of AMD's 2, and three times
// that for Simple.
[[nodiscard]] constexpr Seconds network_post(CpuVendor cpu, Protocol protocol) {
  return (cpu == CpuVendor::amd ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3.0 : 1.0) * 1_us;
}

}  // namespace payoff
