// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/units.hpp"

// Which of several changes made a sum what it is. The changes are switches; what a state of them
// amounts to is a list of terms (those of a step's waterfall). A change is worth what it adds to a
// state that lacks it, averaged over states by a rule:
//
//   Shapley's value (1953) up to `most_shapley` causes: over all orders of substitution. The only
//   rule that adds up, treats like causes alike, gives nothing to what changes nothing, and is
//   linear in the terms (Shapley's axioms).
//   Beyond it: over two orders, as given and reversed. It adds up and is linear too; what the terms
//   owe to pairs of causes (g_ij where the sum is of functions of at most two) is halved just as
//   Shapley's value halves it, so that both agree there.
//
// States may be impossible (twice the nodes, but as many ranks). Switches of which one alone is
// impossible belong together: they become one cause, with as few others as make it possible.

namespace payoff {

using Switches = std::vector<bool>;  // true: as in B
using Terms = std::vector<Seconds>;
// Nothing where the state is impossible. All off and all on have to be possible.
using TermsOf = std::function<std::optional<Terms>(const Switches&)>;

enum class AttributionRule { shapley, both_directions };

struct Attribution {
  std::vector<std::vector<std::size_t>> causes;  // switches that are moved together, in order
  std::vector<Terms> contributions;  // of each cause, by term; they add up to all on less all off
  AttributionRule rule{};
  std::size_t states{};  // that were evaluated
};

inline constexpr std::size_t most_shapley = 6;

// Throws std::invalid_argument where none or all of the changes together are impossible.
[[nodiscard]] Attribution attribute(std::size_t switches, const TermsOf& terms_of);

// Whole numbers that add up to `total`, each as near to its part in `unit` as that allows: every
// part is rounded down, and the units that are then missing go to the largest remainders.
[[nodiscard]] std::vector<std::int64_t> rounded_to(std::int64_t total, const Terms& parts,
                                                   Seconds unit);

}  // namespace payoff
