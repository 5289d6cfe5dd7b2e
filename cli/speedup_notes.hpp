// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/chart.hpp"
#include "study/scaling.hpp"

// What the curves of a job do not tell themselves: where there is no job, no plan, no memory, and
// where the axis changes nothing any more.

namespace payoff {

// Where one replica is all there is, strategies have no points.
void note_single_replica(const Curves<int>& curves, Chart& chart);

// What ends before the axis that was asked for does, which is no break-even.
void note_ends(const Curves<int>& curves, int asked, Chart& chart);

// The same of the job alone, for a map over GPUs; empty where it does not end.
[[nodiscard]] std::string gpus_end_note(const Experiment& experiment, const ScalingOptions& range);

// The smallest model that no longer fits.
void note_large_models(const Curves<double>& curves, Chart& chart);

void note_node_limit(const Experiment& experiment, const ScalingOptions& scaling, Chart& chart);

}  // namespace payoff
