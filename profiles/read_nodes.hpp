// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/hardware.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_measured_codecs.hpp"
#include "profiles/section.hpp"

// The nodes of an experiment: a cluster's profile and what the experiment says of it instead, or a
// list of several such kinds (`node_kinds`), in the order in which ranks fill them.

namespace payoff {

struct ReadNodes {
  Cluster cluster;
  Facts facts;                   // paths as in the experiment: "cluster.node_kinds.0.gpu.peak.bf16"
  std::optional<NamedPart> gpu;  // none where GPUs differ
  bool sound_counts{};           // of nodes and GPUs
};

[[nodiscard]] ReadNodes read_experiment_nodes(const Section& section, const ReadContext& context);

// The GPU that decides what all can do: the oldest one.
[[nodiscard]] const Gpu& oldest_gpu(const Cluster& cluster);

}  // namespace payoff
