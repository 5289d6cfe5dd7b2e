// SPDX-License-Identifier: Apache-2.0
#include "model/node_kinds.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/rank_order.hpp"

namespace payoff {
namespace {

// Transports that reach each other: the same, or the same with and without GPUDirect.
bool connect(const Network& a, const Network& b) {
  return a.name == b.name || a.twin == b.name || b.twin == a.name;
}

std::string path_of(std::size_t kind) { return "cluster.node_kinds." + std::to_string(kind); }

void check_kind(const Cluster& first, const Cluster& kind, std::size_t number, Problems& problems) {
  const std::string path = path_of(number);
  if (kind.gpus_per_node != first.gpus_per_node) {
    problems.push_back({path,
                        "nodes of " + std::to_string(kind.gpus_per_node) +
                            " GPUs beside nodes of " + std::to_string(first.gpus_per_node) +
                            " are not modelled",
                        "set `gpus_per_node` of one of them"});
  }
  if (number > 0 && !connect(first.network, kind.network)) {
    const auto named = [](const Cluster& nodes) {
      return nodes.network.kind == NetworkKind::none ? std::string("none")
                                                     : "`" + nodes.network.name + "`";
    };
    problems.push_back({path,
                        "no network joins these nodes to those of the first kind: " + named(kind) +
                            " beside " + named(first),
                        "name the network that they share: `network: NAME`"});
  }
  if (kind.fabric.spans_nodes) {
    problems.push_back({path,
                        "`" + kind.fabric.name +
                            "` joins the GPUs of several nodes: beside other kinds of nodes that "
                            "is not modelled",
                        ""});
  }
}

// Of the GPUs of several kinds; 0 where it is not known of one.
template <class Of>
double mean(const Cluster& cluster, Of of) {
  double sum = 0;
  for (const Cluster& kind : cluster.kinds) {
    const double one = of(kind.gpu).si;
    if (one <= 0) {
      return 0;
    }
    sum += one * kind.nodes;
  }
  return sum / cluster.nodes;
}

}  // namespace

std::span<const Cluster> each_kind(const Cluster& cluster) {
  return cluster.is_mixed() ? std::span<const Cluster>(cluster.kinds)
                            : std::span<const Cluster>(&cluster, 1);
}

std::vector<std::size_t> kinds_of_stage(const Cluster& cluster, const ParallelLayout& layout,
                                        std::size_t stage) {
  const auto stage_ranks = static_cast<std::int64_t>(layout.stage_ranks());
  const std::int64_t first = static_cast<std::int64_t>(stage) * stage_ranks;
  const std::int64_t end = first + stage_ranks;
  std::vector<std::int64_t> gpus;  // of its ranks, one after the other
  if (!has_usual_order(layout)) {
    for (std::int64_t rank = first; rank < end; ++rank) {
      gpus.push_back(gpu_of_rank(layout, static_cast<int>(rank)));
    }
    std::sort(gpus.begin(), gpus.end());
  }
  const auto has_ranks = [&](std::int64_t begin, std::int64_t behind) {
    if (gpus.empty()) {
      return begin < end && behind > first;
    }
    const auto next = std::lower_bound(gpus.begin(), gpus.end(), begin);
    return next != gpus.end() && *next < behind;
  };
  std::vector<std::size_t> kinds;
  std::int64_t gpu = 0;
  for (std::size_t kind = 0; kind < cluster.kinds.size(); ++kind) {
    const std::int64_t next = gpu + cluster.kinds[kind].gpus();
    if (has_ranks(gpu, next)) {
      kinds.push_back(kind);
    }
    gpu = next;
  }
  return kinds;
}

Cluster nodes_of(const Cluster& cluster, std::span<const std::size_t> kinds) {
  Cluster nodes = cluster.kinds[kinds.front()];
  nodes.nodes = cluster.nodes;
  if (kinds.size() > 1) {
    for (const std::size_t kind : kinds) {
      nodes.kinds.push_back(cluster.kinds[kind]);
    }
  }
  return nodes;
}

void set_nic_rate(Cluster& cluster, Bandwidth rate) {
  cluster.nic = rate;
  for (Cluster& kind : cluster.kinds) {
    kind.nic = rate;
  }
}

std::optional<Bandwidth> nic_rate(const Cluster& cluster) {
  const std::span<const Cluster> kinds = each_kind(cluster);
  const Bandwidth first = kinds.front().nic;
  return std::all_of(kinds.begin(), kinds.end(),
                     [first](const Cluster& kind) { return kind.nic == first; })
             ? std::optional(first)
             : std::nullopt;
}

FlopRate mean_peak(const Cluster& cluster, Precision precision) {
  const auto peak = [precision](const Gpu& gpu) { return gpu.peak[precision]; };
  return cluster.is_mixed() ? FlopRate{mean(cluster, peak)} : peak(cluster.gpu);
}

Watts mean_power(const Cluster& cluster) {
  const auto power = [](const Gpu& gpu) { return gpu.power; };
  return cluster.is_mixed() ? Watts{mean(cluster, power)} : power(cluster.gpu);
}

Problems check_node_kinds(const Cluster& cluster) {
  Problems problems;
  int nodes = 0;
  for (std::size_t kind = 0; kind < cluster.kinds.size(); ++kind) {
    check_kind(cluster.kinds.front(), cluster.kinds[kind], kind, problems);
    nodes += cluster.kinds[kind].nodes;
  }
  if (cluster.is_mixed() && nodes != cluster.nodes) {
    problems.push_back(
        {"cluster.node_kinds",
         "have " + std::to_string(nodes) + " nodes, the cluster " + std::to_string(cluster.nodes),
         ""});
  }
  return problems;
}

}  // namespace payoff
