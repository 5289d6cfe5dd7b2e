// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compression.hpp"

// A plan that compresses no tensor of a model (its rank above every matrix, a model of vectors
// only) is no strategy: the step would be the uncompressed one under another name.

namespace payoff {

// What is between nodes leaves a job in one node as it is, which is no mistake of the plan.
[[nodiscard]] bool has_nothing_to_do(const Method& method, const Workers& group);

// The problem names the layer whose tensor is the largest of those that stay dense; its path is
// empty.
[[nodiscard]] Problems check_effect(const CompressionPlan& plan, const Workload& workload,
                                    Bytes element, const Workers& group);

}  // namespace payoff
