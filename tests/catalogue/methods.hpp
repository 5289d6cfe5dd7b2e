// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiles/read_method.hpp"

// The shipped methods as users get them.

namespace payoff::test {

[[nodiscard]] const std::map<std::string, MethodProfile>& catalogue();

// With some parameters changed.
[[nodiscard]] Method method(const std::string& name,
                            const std::map<std::string, double>& parameters = {});

// A plan that compresses one kind of activations, and nothing else.
[[nodiscard]] CompressionPlan compressed(const Method& method, Traffic traffic, bool forward,
                                         bool backward, const BlockRange& blocks = {});

// Bytes that one worker contributes for these tensors, one call each, in round `round`.
[[nodiscard]] Bytes sent(const Method& method, const std::vector<ParameterTensor>& tensors,
                         Bytes element, const Workers& group, std::size_t round);
// In all rounds.
[[nodiscard]] Bytes sent(const Method& method, const std::vector<ParameterTensor>& tensors,
                         Bytes element, const Workers& group);

}  // namespace payoff::test
