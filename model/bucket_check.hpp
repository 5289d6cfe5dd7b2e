// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "model/problem.hpp"

namespace payoff {

// Buckets that a plan names and no stage has, or in which its method has nothing to compress. Paths
// as those of check(), which else finds nothing.
[[nodiscard]] Problems check_buckets(const Experiment& experiment);

}  // namespace payoff
