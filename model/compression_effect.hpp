// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "model/compression.hpp"

// A plan that compresses no tensor of a model (its rank above every matrix, a model of vectors
// only) is no strategy: the step would be the uncompressed one under another name. One whose
// formulas come to nothing that a machine could do has no step.

namespace payoff {

// What is between nodes leaves a job in one node as it is, which is no mistake of the plan.
[[nodiscard]] bool has_nothing_to_do(const Method& method, const Workers& group);

// The problem names the layer whose tensor is the largest of those that stay dense; its path is
// empty.
[[nodiscard]] Problems check_effect(const CompressionPlan& plan, const Workload& workload,
                                    Bytes element, const Workers& group);

// Whether the parameters are any that the tensor can have.
[[nodiscard]] bool suits(const Method& method, const ParameterTensor& tensor, Bytes element,
                         const Workers& group);

// The first of a method's formulas that is negative, infinite or beyond its limit for one of these
// tensors, where it is compressed; path as in the method's file.
[[nodiscard]] std::optional<Problem> check_amounts(const Method& method,
                                                   std::span<const ParameterTensor> tensors,
                                                   Bytes element, const Workers& group);

// Likewise for the tensors that a model has, which no probe of check_method() may be like: at most
// one of each of the plan's methods of gradients. Its path is empty.
[[nodiscard]] Problems check_amounts(const CompressionPlan& plan, const Workload& workload,
                                     Bytes element, const Workers& group);

}  // namespace payoff
