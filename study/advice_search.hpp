// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/units.hpp"

// Choices for several kinds of traffic that interact, one option or none for each.

namespace payoff {

// One number a kind: 0 for none, else the option after it.
using KindChoice = std::vector<std::size_t>;
using StepOfChoice = std::function<Seconds(const KindChoice&)>;

// `options`: how many each kind has. Both take the first of equals: none goes before its options,
// so that nothing is compressed for nothing.
[[nodiscard]] KindChoice best_of_all(const KindChoice& options, const StepOfChoice& step_of);
// From nothing compressed, the best change of one kind until none makes the step shorter.
[[nodiscard]] KindChoice improved_by_kinds(const KindChoice& options, const StepOfChoice& step_of);

}  // namespace payoff
