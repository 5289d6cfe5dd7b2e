// SPDX-License-Identifier: Apache-2.0
#include "model/groups.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "model/rank_order.hpp"

namespace payoff {
namespace {

// So many neighbours of a group, as all of it is divided.
Group neighbours(const Group& all, int ranks) {
  const int inside = std::min(all.ranks_per_node, ranks);
  return {ranks, inside, all.rivals * std::max(1, all.ranks_per_node / inside), all.stride,
          all.all_reduce};
}

// One of each of so many divisions.
Group with_same_part(const Group& all, int ranks_of_division, int divisions) {
  const int inside = std::max(1, all.ranks_per_node / ranks_of_division);
  return {divisions, inside, all.rivals * (all.ranks_per_node / inside),
          all.stride * std::min(ranks_of_division, all.ranks_per_node), all.all_reduce};
}

// Of gradients, all ranks that hold the same ones: in the way that the layout says.
Group summed(Group group, const ParallelLayout& layout) {
  group.all_reduce = layout.dp_collective;
  return group;
}

// What a layout with an order of its own makes of a group, where others know it by division. Groups
// of one kind that use the node at once: all of the node's, or those of one stage.
enum class Beside : std::uint8_t { all, of_stage };

std::optional<Group> in_own_order(const ParallelLayout& layout, const RankSeries& ranks,
                                  int gpus_per_node, Beside beside) {
  if (has_usual_order(layout)) {
    return std::nullopt;
  }
  Group group = placed(layout, ranks, gpus_per_node);
  const int node =
      beside == Beside::all ? gpus_per_node : stage_ranks_in_node(layout, gpus_per_node);
  group.rivals = std::max(1, node / group.ranks_per_node);
  return group;
}

// Two ranks of the same place in two stages, or `shift` places on: all of them are equally far
// apart, and in two nodes if any are. All of a stage send at once.
Group between_stages(const ParallelLayout& layout, int from, int to, int gpus_per_node,
                     int shift = 0) {
  const int ranks = layout.stage_ranks();
  const auto gpu_from = [&](int rank) { return gpu_of_rank(layout, from * ranks + rank); };
  const auto gpu_to = [&](int rank) {
    return gpu_of_rank(layout, to * ranks + (rank + shift) % ranks);
  };
  int same_node = 0;
  while (same_node < ranks &&
         gpu_from(same_node) / gpus_per_node == gpu_to(same_node) / gpus_per_node) {
    ++same_node;
  }
  return {2, same_node == ranks ? 2 : 1, stage_ranks_in_node(layout, gpus_per_node),
          std::max(1, std::abs(gpu_to(0) - gpu_from(0)))};
}

}  // namespace

Group tensor_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {1, layout.tp}, gpus_per_node, Beside::all)) {
    return *own;
  }
  const int inside = std::min(layout.tp, gpus_per_node);
  return {layout.tp, inside, gpus_per_node / inside};
}

// A ring is as fast as its slowest pair: one that leaves the node, if there is one. Every ring of a
// node leaves it once; inside, every GPU sends.
Group context_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.tp, layout.cp}, gpus_per_node, Beside::all)) {
    if (layout.context_exchange == ContextExchange::all_to_all) {
      return *own;
    }
    return own->ranks_per_node == layout.cp ? Group{2, 2, gpus_per_node, own->stride}
                                            : Group{2, 1, own->rivals};
  }
  const int inside =
      layout.tp >= gpus_per_node ? 1 : std::min(layout.cp, gpus_per_node / layout.tp);
  const int groups = gpus_per_node / inside;
  if (layout.context_exchange == ContextExchange::all_to_all) {
    return {layout.cp, inside, groups, layout.tp};
  }
  return inside == layout.cp ? Group{2, 2, gpus_per_node, layout.tp} : Group{2, 1, groups};
}

Group data_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own =
          in_own_order(layout, {layout.tp, layout.data_ranks()}, gpus_per_node, Beside::of_stage)) {
    return summed(*own, layout);
  }
  const int inside =
      layout.tp >= gpus_per_node ? 1 : std::min(layout.data_ranks(), gpus_per_node / layout.tp);
  return summed({layout.data_ranks(), inside, std::min(layout.tp, gpus_per_node), layout.tp},
                layout);
}

Group shard_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.tp, layout.shard_ranks()}, gpus_per_node,
                                    Beside::of_stage)) {
    return *own;
  }
  return neighbours(data_group(layout, gpus_per_node), layout.shard_ranks());
}

Group replica_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.tp * layout.shard_ranks(), layout.replicas()},
                                    gpus_per_node, Beside::of_stage)) {
    return *own;
  }
  return with_same_part(data_group(layout, gpus_per_node), layout.shard_ranks(), layout.replicas());
}

Group part_in_node(const Group& group) { return neighbours(group, group.ranks_per_node); }

Group part_across_nodes(const Group& group) {
  return with_same_part(group, group.ranks_per_node, group.ranks / group.ranks_per_node);
}

Group expert_tensor_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {1, layout.etp}, gpus_per_node, Beside::all)) {
    return *own;
  }
  const int inside = std::min(layout.etp, gpus_per_node);
  return {layout.etp, inside, gpus_per_node / inside};
}

Group expert_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.etp, layout.ep}, gpus_per_node, Beside::all)) {
    return *own;
  }
  const int inside =
      layout.etp >= gpus_per_node ? 1 : std::min(layout.ep, gpus_per_node / layout.etp);
  return {layout.ep, inside, gpus_per_node / inside, layout.etp};
}

Group expert_data_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.expert_ranks(), layout.expert_replicas()},
                                    gpus_per_node, Beside::of_stage)) {
    return summed(*own, layout);
  }
  const int apart = layout.expert_ranks();
  const int inside =
      apart >= gpus_per_node ? 1 : std::min(layout.expert_replicas(), gpus_per_node / apart);
  return summed({layout.expert_replicas(), inside, std::min(apart, gpus_per_node), apart}, layout);
}

Group expert_shard_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own = in_own_order(layout, {layout.expert_ranks(), layout.expert_shards()},
                                    gpus_per_node, Beside::of_stage)) {
    return *own;
  }
  return neighbours(expert_data_group(layout, gpus_per_node), layout.expert_shards());
}

Group expert_replica_group(const ParallelLayout& layout, int gpus_per_node) {
  if (const auto own =
          in_own_order(layout, {layout.expert_ranks() * layout.expert_shards(), layout.replicas()},
                       gpus_per_node, Beside::of_stage)) {
    return *own;
  }
  return with_same_part(expert_data_group(layout, gpus_per_node), layout.expert_shards(),
                        layout.replicas());
}

Group group_of(MessageKind kind, const ParallelLayout& layout, int gpus_per_node) {
  switch (kind) {
    case MessageKind::tp_activations:
      return tensor_group(layout, gpus_per_node);
    case MessageKind::cp_activations:
      return context_group(layout, gpus_per_node);
    case MessageKind::ep_activations:
      return expert_group(layout, gpus_per_node);
    case MessageKind::etp_activations:
      return expert_tensor_group(layout, gpus_per_node);
    case MessageKind::ep_gradients:
    case MessageKind::ep_weights:
      return layout.zero > 0 ? expert_shard_group(layout, gpus_per_node)
                             : expert_data_group(layout, gpus_per_node);
    case MessageKind::ep_replicas:
      return expert_replica_group(layout, gpus_per_node);
    case MessageKind::dp_replicas:
      return replica_group(layout, gpus_per_node);
    case MessageKind::tied_gradients:
      return ends_group(layout, gpus_per_node);
    case MessageKind::dp_gradients:
    case MessageKind::dp_weights:
    case MessageKind::pp_activations:
    case MessageKind::table_activations:
      break;
  }
  return layout.zero > 0 ? shard_group(layout, gpus_per_node) : data_group(layout, gpus_per_node);
}

Group ends_group(const ParallelLayout& layout, int gpus_per_node) {
  if (!has_usual_order(layout)) {
    return between_stages(layout, 0, layout.stages() - 1, gpus_per_node);
  }
  const bool same_node = (layout.stages() - 1) * layout.stage_ranks() < gpus_per_node;
  return {2, same_node ? 2 : 1, std::min(layout.stage_ranks(), gpus_per_node),
          (layout.stages() - 1) * layout.stage_ranks()};
}

Group boundary_group(const ParallelLayout& layout, int gpus_per_node, int stage) {
  const int stage_ranks = layout.stage_ranks();
  const bool to_other_copy = is_two_ended(layout.schedule) && stage + 1 == layout.stages();
  if (!has_usual_order(layout)) {
    return to_other_copy
               ? between_stages(layout, stage, stage, gpus_per_node, layout.copy_ranks())
               : between_stages(layout, stage, (stage + 1) % layout.stages(), gpus_per_node);
  }
  if (to_other_copy) {
    return {2, stage_ranks <= gpus_per_node ? 2 : 1, std::min(stage_ranks, gpus_per_node),
            stage_ranks};
  }
  const int from = stage * stage_ranks;  // the first ranks of both
  const int to = (stage + 1) % layout.stages() * stage_ranks;
  const bool same_node = from / gpus_per_node == to / gpus_per_node;
  return {2, same_node ? 2 : 1, std::min(stage_ranks, gpus_per_node),
          std::max(1, std::abs(to - from))};
}

}  // namespace payoff
