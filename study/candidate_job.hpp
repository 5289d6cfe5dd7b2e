// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"

// A job in another layout, and which of its plans mean anything there.

namespace payoff {

// Whether a plan can be asked for in this layout, before its effect is known: there are ranks to
// sum with, sharded gradients only for methods that compose with a reduce-scatter, activations that
// are sent.
[[nodiscard]] bool is_possible(const CompressionPlan& plan, const ParallelLayout& layout);
// The same with its effect: a plan that compresses nothing of the job is none of its strategies.
[[nodiscard]] bool has_effect(const CompressionPlan& plan, const PreparedExperiment& job);

// The job in another layout, with no plan but "none".
[[nodiscard]] Experiment in_layout(const Experiment& experiment, const ParallelLayout& layout);

}  // namespace payoff
