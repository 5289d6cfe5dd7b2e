// SPDX-License-Identifier: Apache-2.0
#include "model/groups.hpp"

#include <algorithm>

namespace payoff {

Group tensor_group(const ParallelLayout& layout, int gpus_per_node) {
  const int inside = std::min(layout.tp, gpus_per_node);
  return {layout.tp, inside, gpus_per_node / inside};
}

Group data_group(const ParallelLayout& layout, int gpus_per_node) {
  const int inside =
      layout.tp >= gpus_per_node ? 1 : std::min(layout.dp, gpus_per_node / layout.tp);
  return {layout.dp, inside, std::min(layout.tp, gpus_per_node)};
}

Group shard_group(const ParallelLayout& layout, int gpus_per_node) {
  const Group all = data_group(layout, gpus_per_node);
  const int inside = std::min(all.ranks_per_node, layout.shard_ranks());
  return {layout.shard_ranks(), inside, all.rivals * std::max(1, all.ranks_per_node / inside)};
}

Group replica_group(const ParallelLayout& layout, int gpus_per_node) {
  const Group all = data_group(layout, gpus_per_node);
  const int inside = std::max(1, all.ranks_per_node / layout.shard_ranks());
  return {layout.replicas(), inside, all.rivals * (all.ranks_per_node / inside)};
}

Group group_of(MessageKind kind, const ParallelLayout& layout, int gpus_per_node) {
  switch (kind) {
    case MessageKind::tp_activations:
      return tensor_group(layout, gpus_per_node);
    case MessageKind::dp_replicas:
      return replica_group(layout, gpus_per_node);
    case MessageKind::dp_gradients:
    case MessageKind::dp_weights:
    case MessageKind::pp_activations:
      break;
  }
  return layout.zero > 0 ? shard_group(layout, gpus_per_node) : data_group(layout, gpus_per_node);
}

Group boundary_group(const ParallelLayout& layout, int gpus_per_node, int stage) {
  const int stage_ranks = layout.tp * layout.dp;
  const int last_of_stage = stage * stage_ranks;
  const int target = (stage + 1) % layout.pp * stage_ranks;
  const bool same_node = last_of_stage / gpus_per_node == target / gpus_per_node;
  return {2, same_node ? 2 : 1, std::min(stage_ranks, gpus_per_node)};
}

}  // namespace payoff
