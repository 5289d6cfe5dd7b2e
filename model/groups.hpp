// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective.hpp"
#include "model/layout.hpp"
#include "model/step_plan.hpp"

// Which ranks talk to which: the groups of a layout on nodes of `gpus_per_node` GPUs, with tp
// innermost, then cp, dp and pp, or in the layout's own order (model/rank_order). Valid for layouts
// that check_layout accepts (a tensor-parallel group fills whole nodes or divides one).

namespace payoff {

[[nodiscard]] Group tensor_group(const ParallelLayout& layout, int gpus_per_node);
// Ranks that hold the parts of one sequence: two neighbours of a ring, or all of them.
[[nodiscard]] Group context_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group data_group(const ParallelLayout& layout, int gpus_per_node);

// Neighbours of a data-parallel group that hold one copy of the sharded state between them, and the
// ranks that hold the same part of it.
[[nodiscard]] Group shard_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group replica_group(const ParallelLayout& layout, int gpus_per_node);

// Of a group: those in one node, and those with the same place in every node.
[[nodiscard]] Group part_in_node(const Group& group);
[[nodiscard]] Group part_across_nodes(const Group& group);

// Ranks that divide each expert of a mixture, neighbours in the stage; those that divide the
// experts between them, `etp` apart; and those that hold the same ones, whose gradients are summed:
// all of them, those that hold one copy of the sharded state, those that hold the same part of it.
[[nodiscard]] Group expert_tensor_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group expert_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group expert_data_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group expert_shard_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group expert_replica_group(const ParallelLayout& layout, int gpus_per_node);

// The ranks with the same place in the first and in the last stage.
[[nodiscard]] Group ends_group(const ParallelLayout& layout, int gpus_per_node);

// Those that take part in a collective of a kind; not for sends.
[[nodiscard]] Group group_of(MessageKind kind, const ParallelLayout& layout, int gpus_per_node);

// The two ranks on either side of the boundary after `stage`. That of the last stage leads back to
// the first one (interleaved schedules), or between two ends to the other copy of the same stage.
[[nodiscard]] Group boundary_group(const ParallelLayout& layout, int gpus_per_node, int stage);

}  // namespace payoff
