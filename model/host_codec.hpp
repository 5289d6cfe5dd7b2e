// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compression.hpp"
#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"

// Docs: docs/model.md, section 3.3. Passes of a codec that run on the host (BytePS, Espresso): a
// copy engine moves the gradient to pinned memory, the cores of the node encode it, the payload
// goes from memory to memory between hosts, is decoded there for every worker, and what comes out
// is copied back.
//
//   copy   start + bytes / rate                       of one GPU alone, each direction
//   cores  loops x call + (streamed / core + irregular / rate) / threads + of one thread / rate
//
// with no more threads than one GPU's share of the cores: all GPUs of a node that are on the same
// stage ask for them at once. The memory of the host limits nobody here: nothing says how much of
// it training takes. Valid for loops that stream; a method brings its own `core` (HostCodec).

namespace payoff {

// What a copy engine reaches of a PCIe slot, pinned memory. Assumed: packets of 256 bytes leave
// 0.86 of it, and what is measured is a little less.
inline constexpr double copy_share = 0.8;

// Of one GPU and direction: what the cluster says, else what was measured on the GPU (CopyLaw),
// else the share of its slot.
[[nodiscard]] Bandwidth copy_rate(const Cluster& cluster);
// What was measured on the GPU, else 10 us (assumed).
[[nodiscard]] Seconds start_of_copy(const Gpu& gpu);
[[nodiscard]] Seconds copy_time(Bytes bytes, const Cluster& cluster);

// GPUs of a node that run the same codec at the same time.
[[nodiscard]] int sharers_of_host(const Cluster& cluster, const ParallelLayout& layout);

[[nodiscard]] Seconds host_time(const PassCost& pass, const HostCodec& codec, const Host& host,
                                int sharers);

// What all cores of a node stream through the plan's codec of gradients; zero: it has none there.
[[nodiscard]] Bandwidth host_capacity(const Host& host, const CompressionPlan& plan);

// Where the data of a pass lies before it, and where it is wanted after it.
struct HostPass {
  bool from_gpu{};
  bool to_gpu{};
};
[[nodiscard]] HostWork host_work(const PassCost& pass, const HostPass& place,
                                 const HostCodec& codec, const Cluster& cluster, int sharers);

// A method whose passes leave data where the next one does not look for it; what is said twice or
// not at all. Paths as in the method's file.
void check_host_passes(const Method& method, Problems& problems);

// Of a plan for a job; empty where no pass runs on the host.
[[nodiscard]] Problems check_host(const CompressionPlan& plan, const Cluster& cluster,
                                  const ParallelLayout& layout, const std::string& path);

}  // namespace payoff
