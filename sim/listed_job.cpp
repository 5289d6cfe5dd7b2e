// SPDX-License-Identifier: Apache-2.0
#include "sim/listed_job.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/rank_order.hpp"
#include "sim/not_folded.hpp"

namespace payoff::sim {
namespace {

// By rank, of the GPUs of a topology that the cluster has.
std::vector<int> in_order(const ParallelLayout& layout, const std::vector<int>& on_gpus) {
  std::vector<int> gpus = gpus_of_ranks(layout);
  for (int& gpu : gpus) {
    gpu = on_gpus.empty() ? gpu : on_gpus[static_cast<std::size_t>(gpu)];
  }
  return gpus;
}

}  // namespace

Problem too_many_listed(const ListedJob& listed, const StepPlan& plan, const PlatformRules& rules) {
  const std::uint64_t events = listed_events(plan);
  return {"cluster.topology",
          std::to_string(listed.layout.ranks()) + " ranks would be simulated one by one, in some " +
              std::to_string(std::max<std::uint64_t>(events / 1'000'000, 1)) +
              " million events: " + why_not_folded(listed.state, listed.layout, rules) +
              "; at most " + std::to_string(most_listed_ranks) + " can be",
          "`routing: {balance: ideal}`, a regular topology without faults and jitter, "
          "and stages that fill whole leaves (or pods) fold"};
}

Problems check_sizes(const ClusterState& state, const ParallelLayout& layout) {
  Problems problems;
  const auto gpus =
      static_cast<int>(state.on_gpus.empty() ? state.topology->gpus() : state.on_gpus.size());
  if (gpus < layout.ranks()) {
    problems.push_back({"cluster.topology",
                        "has " + std::to_string(gpus) + " GPUs, the layout needs " +
                            std::to_string(layout.ranks()),
                        {}});
  }
  for (const SlowGpu& slow : state.slow_gpus) {
    if (slow.gpu >= gpus) {
      problems.push_back(
          {slow.path, "is GPU " + std::to_string(slow.gpu) + " of " + std::to_string(gpus), {}});
    }
  }
  return problems;
}

ListedJob with_topology(const Cluster& cluster, const ClusterState& state,
                        const ParallelLayout& layout) {
  ListedJob result{state, layout, state.topology.has_value()};
  if (!result.state.topology) {
    result.state.topology = topology_of(cluster);
    result.state.topology->balance = Balance::ideal;
  }
  if (!has_usual_order(layout)) {
    result.state.on_gpus = in_order(layout, state.on_gpus);
  }
  return result;
}

bool has_equal_stages(const Cluster& cluster, const ParallelLayout& layout) {
  return has_usual_order(layout) || (fills_nodes_in_order(layout, cluster.gpus_per_node) &&
                                     (cluster.is_mixed() || layout.ranks() > most_listed_ranks));
}

}  // namespace payoff::sim
