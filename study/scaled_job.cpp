// SPDX-License-Identifier: Apache-2.0
#include "study/scaled_job.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace payoff {

namespace {

// Replicas that hold the weights whole between them: another number of ranks makes no groups.
int replicas_of_shards(const ParallelLayout& layout) {
  if (layout.zero == 0 || layout.shard == 0) {
    return 1;
  }
  return layout.shard / std::gcd(layout.shard, layout.cp * layout.copies());
}

}  // namespace

ScalingStep scaling_step(const Experiment& experiment) {
  const ParallelLayout& layout = experiment.layout;
  const int replica = layout.tp * layout.cp * layout.pp;
  const int node = experiment.cluster.gpus_per_node;
  const int whole_nodes = std::lcm(replica, node) / replica;
  const int replicas = std::lcm(whole_nodes, replicas_of_shards(layout));
  return {replicas * replica / node, replicas, replicas * replica};
}

namespace {

// Whatever check() says of it.
std::optional<Experiment> filling_nodes(Experiment experiment, int dp) {
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
  return experiment;
}

}  // namespace

std::optional<Experiment> with_dp(Experiment experiment, int dp) {
  std::optional<Experiment> job = filling_nodes(std::move(experiment), dp);
  return job && is_possible_uncompressed(*job) ? std::move(job) : std::nullopt;
}

std::string why_not_with_dp(const Experiment& experiment, int dp) {
  const std::optional<Experiment> job = filling_nodes(experiment, dp);
  const Problems problems = job ? problems_of_plan(*job, 0) : Problems{};
  return problems.empty() ? "" : problems.front().message;
}

Experiment without_plans(const Experiment& experiment) {
  return {
      experiment.name,   experiment.cluster,  experiment.software,        experiment.model,
      experiment.layout, experiment.training, {experiment.plans.front()}, experiment.layer_times};
}

bool is_possible_uncompressed(const Experiment& experiment) {
  return check(without_plans(experiment)).empty();
}

Problems problems_of_plan(const Experiment& experiment, std::size_t plan) {
  return plan == 0 ? check(without_plans(experiment))
                   : problems_of_plan(experiment, experiment.plans.at(plan));
}

Problems problems_of_plan(const Experiment& experiment, const CompressionPlan& plan) {
  Experiment job = without_plans(experiment);
  job.plans.push_back(plan);
  return check(job);
}

LastPossible last_possible(const std::function<bool(int)>& is_possible,
                           const std::vector<int>& counts) {
  // Shards and experts divide the replicas: what is not possible may be beside what is.
  constexpr int farthest = 64;
  const auto last_near = [&](int count, int lowest) {
    for (int x = count; x > std::max(lowest, count - farthest); --x) {
      if (is_possible(x)) {
        return x;
      }
    }
    return lowest;
  };
  int above = 0;
  int last = 0;
  for (auto count = counts.rbegin(); count != counts.rend() && last == 0; ++count) {
    last = last_near(*count, 0);
    above = last == 0 ? *count : above;
  }
  if (last == 0 || last == counts.back()) {
    return {last, false};
  }
  while (above - last > 1) {
    const int middle = last + (above - last) / 2;
    const int found = last_near(middle, last);
    (found > last ? last : above) = found > last ? found : middle;
  }
  return {last, last_near(last + farthest, last) == last};
}

}  // namespace payoff
