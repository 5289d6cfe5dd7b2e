// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/experiment.hpp"

// What to do about a job that does not fit its GPUs: the layout with the fewest changes that does,
// on the same GPUs with the same global batch. Changed are tp (a power of two within a node), pp,
// zero, recomputation and the micro-batch, and only towards less memory. Of equally many changes
// the fastest uncompressed step is taken. Compression plans are left out: not all compose with all
// layouts.

namespace payoff {

struct FittingLayout {
  ParallelLayout layout;
  std::string changes;  // "tp 8, zero 1"
  Seconds step{};
  Memory memory;
};

// nullopt where the job fits already, and where none of these layouts does.
[[nodiscard]] std::optional<FittingLayout> nearest_fitting_layout(const Experiment& experiment);

}  // namespace payoff
