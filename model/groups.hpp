// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective.hpp"
#include "model/layout.hpp"

// Which ranks talk to which: the groups of a layout on nodes of `gpus_per_node` GPUs, with tp
// innermost, then dp, then pp. Valid for layouts that check_layout accepts (a tensor-parallel group
// fills whole nodes or divides one).

namespace payoff {

[[nodiscard]] Group tensor_group(const ParallelLayout& layout, int gpus_per_node);
[[nodiscard]] Group data_group(const ParallelLayout& layout, int gpus_per_node);

// The two ranks on either side of the boundary after `stage`; the last stage's boundary leads back
// to the first one (interleaved schedules).
[[nodiscard]] Group boundary_group(const ParallelLayout& layout, int gpus_per_node, int stage);

}  // namespace payoff
