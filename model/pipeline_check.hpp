// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/layout.hpp"
#include "model/problem.hpp"

// Pipelines that a layout cannot have: by their stages, their chunks and their schedule.

namespace payoff {

// `layers` are divided among the stages.
void check_pipeline(const ParallelLayout& layout, int layers, Problems& problems);

// A forward and a backward that run as one.
void check_pairs(const ParallelLayout& layout, Problems& problems);

}  // namespace payoff
