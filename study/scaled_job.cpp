// SPDX-License-Identifier: Apache-2.0
#include "study/scaled_job.hpp"

#include <cstdint>
#include <limits>
#include <numeric>

namespace payoff {

ScalingStep scaling_step(const Experiment& experiment) {
  const int replica = experiment.layout.tp * experiment.layout.cp * experiment.layout.pp;
  const int node = experiment.cluster.gpus_per_node;
  const int together = std::lcm(replica, node);
  return {together / node, together / replica};
}

std::optional<Experiment> with_dp(Experiment experiment, int dp) {
  const ParallelLayout& layout = experiment.layout;
  const std::int64_t ranks = std::int64_t{dp} * layout.tp * layout.cp * layout.pp;
  Cluster& cluster = experiment.cluster;
  if (dp < 1 || ranks > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  if (ranks < cluster.gpus_per_node) {
    cluster.gpus_per_node = static_cast<int>(ranks);
    cluster.nodes = 1;
  } else if (ranks % cluster.gpus_per_node == 0) {
    cluster.nodes = static_cast<int>(ranks / cluster.gpus_per_node);
  } else {
    return std::nullopt;
  }
  experiment.layout.dp = dp;
  if (experiment.layout.data_ranks() == 1) {
    experiment.plans.resize(1);  // there is nothing to compress
  }
  if (!check(experiment).empty()) {
    return std::nullopt;
  }
  return experiment;
}

}  // namespace payoff
