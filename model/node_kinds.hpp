// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"

// Clusters whose nodes are of several kinds (Cluster::kinds). Ranks fill the nodes in their order
// (model/rank_order), so that a stage of a pipeline is on one kind or on several: neighbouring ones
// where stages are outermost, all of them where replicas are.
//
// * A stage on one kind computes, encodes and decodes as its GPU does.
// * A stage on several kinds has replicas, or parts of a layer, that differ. They meet in every
//   step: the stage goes at the pace of the kind that takes longest for all its work of the step,
//   and holds what the smallest memory holds.
// * A collective among nodes of several kinds takes what it takes among those of the slowest
//   (model/collective.hpp); so does a send from one kind to another, and the sum of what both ends
//   of a pipeline hold.
//
// Not here: nodes with different numbers of GPUs, replicas with different shares of the batch,
// domains of several nodes, topologies, codecs on the host.

namespace payoff {

// All kinds; the cluster itself where its nodes are alike.
[[nodiscard]] std::span<const Cluster> each_kind(const Cluster& cluster);

// The kinds whose nodes hold ranks of a stage, each once, in the order of the nodes. Of a cluster
// of several kinds whose nodes all ranks fill.
[[nodiscard]] std::vector<std::size_t> kinds_of_stage(const Cluster& cluster,
                                                      const ParallelLayout& layout,
                                                      std::size_t stage);

// A cluster as large whose nodes are of these kinds: it computes as the first one does.
[[nodiscard]] Cluster nodes_of(const Cluster& cluster, std::span<const std::size_t> kinds);

// The NICs of all nodes at another line rate.
void set_nic_rate(Cluster& cluster, Bandwidth rate);
// The line rate of every NIC; nullopt where those of one kind are faster than those of another.
[[nodiscard]] std::optional<Bandwidth> nic_rate(const Cluster& cluster);

// Of all GPUs; zero where it is not known of one.
[[nodiscard]] FlopRate mean_peak(const Cluster& cluster, Precision precision);
[[nodiscard]] Watts mean_power(const Cluster& cluster);

// What cannot be expressed, of the cluster alone; paths as in the experiment file.
[[nodiscard]] Problems check_node_kinds(const Cluster& cluster);

}  // namespace payoff
