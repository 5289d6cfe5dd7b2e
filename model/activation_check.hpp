// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective.hpp"
#include "model/compression.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/workload.hpp"

// Compression of activations that a job has no use for, or that cannot be run.

namespace payoff {

// Traffic that the layout does not have, directions and collectives that a method does not know.
// Paths begin with `path`.
[[nodiscard]] Problems check_activations(const CompressionPlan& plan, const ParallelLayout& layout,
                                         const std::string& path);

// Blocks or tables that the model does not have, activations that do not get smaller, and payloads
// of tokens that do not divide by tokens though each goes to the ranks of its experts, by name of
// their layer. `element`: bytes of an activation. Requires check_activations to be empty.
[[nodiscard]] Problems check_activation_effect(const CompressionPlan& plan,
                                               const Workload& workload,
                                               const ParallelLayout& layout, Bytes element,
                                               const Group& tensor, const std::string& path);

}  // namespace payoff
