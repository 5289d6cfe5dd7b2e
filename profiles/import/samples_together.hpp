// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profiles/import/json_values.hpp"
#include "profiles/import/samples.hpp"

// The `interference` of a samples file: kernels that ran beside each other in a steady state
// (internal to the readers of samples).

namespace payoff::import_detail {

// What is wrong is reported by `values`, with the number of the run.
[[nodiscard]] std::vector<SamplesTogether> read_together(const Node& list, JsonValues& values);

}  // namespace payoff::import_detail
