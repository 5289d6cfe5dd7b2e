// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compression.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"

// Compression that a job's sharding has no use for, or that cannot be run with it.

namespace payoff {

// Whether a method's rounds gather what each worker encodes of its own part: all-gathers of parts
// that get smaller with more workers, and all-reduces of what does not grow with the weights (their
// largest value). Rounds of a sum, in which each worker encodes all, are no gather. `element`:
// bytes of a weight.
[[nodiscard]] bool gathers_parts(const Method& method, Bytes element);

// Among the ranks of a node, or among those with the same place in every node.
[[nodiscard]] bool has_rounds_among_some(const Method& method);

// Gradients that a method scatters though every rank wants all of them, or whose sum it cannot
// leave scattered; weights that nobody gathers, or by the rounds of a sum; rounds among the ranks
// of a node where gradients of experts go among others. Paths are `path`.
[[nodiscard]] Problems check_sharded(const CompressionPlan& plan, const ParallelLayout& layout,
                                     Bytes weight, const std::string& path);

}  // namespace payoff
