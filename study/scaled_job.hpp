// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"

// The same job on another number of GPUs: replicas are added or removed, the rest of the layout and
// the batch of each replica stay (weak scaling). Whole nodes, or a part of one node.

namespace payoff {

// nullopt where the replicas do not fill nodes evenly, or the model refuses the layout. Plans stay
// as they are, also those that the job cannot have there: one that is impossible ends no other.
[[nodiscard]] std::optional<Experiment> with_dp(Experiment experiment, int dp);

// What check() says first of the job without its plans on another number of GPUs; empty where it
// accepts it, and where the replicas do not fill nodes.
[[nodiscard]] std::string why_not_with_dp(const Experiment& experiment, int dp);

// Whether check() accepts the job without its plans.
[[nodiscard]] bool is_possible_uncompressed(const Experiment& experiment);
// What check() says of the job with this plan alone.
[[nodiscard]] Problems problems_of_plan(const Experiment& experiment, std::size_t plan);
[[nodiscard]] Problems problems_of_plan(const Experiment& experiment, const CompressionPlan& plan);
// The job with its first plan alone, which is none: what every value of an axis has a copy of.
[[nodiscard]] Experiment without_plans(const Experiment& experiment);

struct LastPossible {
  int count{};  // zero where none is
  bool ends{};  // for good: not because `counts` end, nor between two that shards divide
};
// The largest number, up to the last of ascending `counts`, that is possible. Of several stretches
// of numbers that are, that of the last of `counts` in one.
[[nodiscard]] LastPossible last_possible(const std::function<bool(int)>& is_possible,
                                         const std::vector<int>& counts);

// Nodes that hold a whole number of replicas, and of groups that share their weights: dp changes in
// steps of `replicas` with `nodes` nodes.
struct ScalingStep {
  int nodes{1};
  int replicas{1};
  int gpus{1};  // of these nodes
};
[[nodiscard]] ScalingStep scaling_step(const Experiment& experiment);

}  // namespace payoff
