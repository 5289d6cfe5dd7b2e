// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"

// Where the ranks of a layout are. Everything else numbers them in the usual order, tp innermost,
// then cp, dp and pp; this says which GPU, counted node by node, the layout's own order puts one on
// (Megatron-LM's --order and --use-tp-pp-dp-mapping).

namespace payoff {

// "tp-cp-dp-pp"
[[nodiscard]] std::string order_text(const RankOrder& order);

[[nodiscard]] bool has_usual_order(const ParallelLayout& layout);
// Whether every node holds what every other one holds, of other stages at most: neighbours of each
// degree, and of those inside it, fill nodes or divide one.
[[nodiscard]] bool fills_nodes_in_order(const ParallelLayout& layout, int gpus_per_node);
// The GPU of a rank of the usual order.
[[nodiscard]] int gpu_of_rank(const ParallelLayout& layout, int rank);
// Of all ranks.
[[nodiscard]] std::vector<int> gpus_of_ranks(const ParallelLayout& layout);

// Ranks of the usual order: 0, stride, 2 stride ...
struct RankSeries {
  int stride{1};
  int count{1};
};
// Who of them shares the first one's node, and how far apart they are there; `rivals` is left to
// the caller.
[[nodiscard]] Group placed(const ParallelLayout& layout, const RankSeries& ranks,
                           int gpus_per_node);
// Of the first stage, those in the node of its first rank.
[[nodiscard]] int stage_ranks_in_node(const ParallelLayout& layout, int gpus_per_node);

// Groups of one kind that are spread over nodes in different ways, which no price is for. The
// degrees have to make as many ranks as the cluster has GPUs.
[[nodiscard]] Problems check_order(const ParallelLayout& layout, const Cluster& cluster);

}  // namespace payoff
