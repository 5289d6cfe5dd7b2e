// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "profiles/section.hpp"

namespace payoff {

// The section `layout` of an experiment. Without a `dp` of its own the layout takes all GPUs of the
// cluster that tp, cp and pp leave over. `knows_gpus`: how many that are was read without mistake.
void read_layout(const Section& section, const Cluster& cluster, bool knows_gpus,
                 ParallelLayout& layout);

// That dp: at least one.
[[nodiscard]] int replicas_that_fit(const ParallelLayout& layout, const Cluster& cluster);

// Whether pairs overlap where nobody says so: for experts that are exchanged, which they are made
// for. Short messages inside a node cost more units than they hide.
[[nodiscard]] bool usual_pair_overlap(const ParallelLayout& layout);

}  // namespace payoff
