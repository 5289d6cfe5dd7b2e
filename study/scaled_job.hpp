// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/experiment.hpp"

// The same job on another number of GPUs: replicas are added or removed, the rest of the layout and
// the batch of each replica stay (weak scaling). Whole nodes, or a part of one node.

namespace payoff {

// nullopt where the replicas do not fill nodes evenly, or the model refuses the layout.
[[nodiscard]] std::optional<Experiment> with_dp(Experiment experiment, int dp);

// Nodes that hold a whole number of replicas: dp changes in steps of `replicas` with `nodes` nodes.
struct ScalingStep {
  int nodes{1};
  int replicas{1};
};
[[nodiscard]] ScalingStep scaling_step(const Experiment& experiment);

}  // namespace payoff
