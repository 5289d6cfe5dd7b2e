// SPDX-License-Identifier: Apache-2.0
#include "model/shard_check.hpp"

#include <algorithm>
#include <string>

#include "model/rank_order.hpp"

namespace payoff {
namespace {

std::int64_t block_of(const ParallelLayout& layout, int shard) {
  return std::int64_t{layout.tp} * shard;
}

// A group that holds one copy of all other weights holds one or more of all experts. Not asked
// where no group could: ep and etp are refused then.
bool holds_experts(const ParallelLayout& layout, int shard) {
  const std::int64_t ranks = std::int64_t{layout.ep} * layout.etp;
  return layout.stage_ranks() % ranks != 0 || block_of(layout, shard) % ranks == 0;
}

// In another order than the usual one blocks are no neighbours: check_order looks at their groups.
bool fills(const ParallelLayout& layout, const Cluster& cluster, int shard) {
  return !has_usual_order(layout) || fills_nodes(block_of(layout, shard), cluster);
}

bool is_possible(const ParallelLayout& layout, const Cluster& cluster, int shard) {
  return layout.data_ranks() % shard == 0 && fills(layout, cluster, shard) &&
         holds_experts(layout, shard);
}

// Why not: the first reason.
std::string refusal(const ParallelLayout& layout, const Cluster& cluster) {
  if (layout.data_ranks() % layout.shard != 0) {
    return (layout.cp > 1 ? "dp x cp " : "dp ") + std::to_string(layout.data_ranks()) +
           " cannot be divided into groups of " + std::to_string(layout.shard);
  }
  const std::string block = std::to_string(block_of(layout, layout.shard));
  if (!fills(layout, cluster, layout.shard)) {
    return "tp x shard blocks of " + block + " ranks do not fill nodes of " +
           std::to_string(cluster.gpus_per_node) + " GPUs evenly";
  }
  return "tp x shard " + block + " ranks do not hold all experts, which ep x etp " +
         std::to_string(layout.expert_ranks()) + " ranks divide between them";
}

// The nearest that nothing refuses. All data ranks together are one, or dp is refused.
std::string nearest(const ParallelLayout& layout, const Cluster& cluster) {
  const int all = layout.data_ranks();
  const int given = std::min(layout.shard, all);
  int below = given - 1;
  while (below > 0 && !is_possible(layout, cluster, below)) {
    --below;
  }
  int above = given;
  while (above < all && !is_possible(layout, cluster, above)) {
    ++above;
  }
  return "choose " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(above);
}

}  // namespace

bool fills_nodes(std::int64_t ranks, const Cluster& cluster) {
  return cluster.nodes == 1 || cluster.gpus_per_node % ranks == 0 ||
         ranks % cluster.gpus_per_node == 0;
}

void check_sharding(const ParallelLayout& layout, const Cluster& cluster, bool sound_ranks,
                    Problems& problems) {
  if (layout.zero != 3 && !layout.reshard) {
    problems.push_back({"layout.reshard",
                        "only zero 3 gathers weights that could be kept after forward, zero is " +
                            std::to_string(layout.zero),
                        "leave it out, or set zero to 3"});
  }
  if (layout.shard == 0) {
    return;
  }
  if (layout.zero == 0) {
    problems.push_back({"layout.shard", "nothing is sharded: zero is 0", "set zero to 1, 2 or 3"});
  } else if (sound_ranks && !is_possible(layout, cluster, layout.shard)) {
    problems.push_back({"layout.shard", refusal(layout, cluster), nearest(layout, cluster)});
  }
}

}  // namespace payoff
