// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/experiment.hpp"
#include "sim/step.hpp"

// Jobs on nodes of several kinds, and their steps by both engines.

namespace payoff::test {

// The nodes of a cluster as kinds of so many nodes each.
[[nodiscard]] Cluster split(const Cluster& cluster, const std::vector<int>& nodes);

// What the first kind has is also said of the cluster.
void settle(Cluster& cluster);

void make_faster(Gpu& gpu, double factor);

// A GPT on four nodes of four GPUs.
[[nodiscard]] Experiment gpt_job(int pp);

// The last two nodes with GPUs so many times as fast.
[[nodiscard]] Experiment with_fast_half(Experiment job, double factor);

// The same job with nodes of that kind alone.
[[nodiscard]] Experiment on_kind(Experiment job, std::size_t kind);

[[nodiscard]] Seconds step_of(const Experiment& job, std::size_t plan = 0, const NcclPin& pin = {});

[[nodiscard]] sim::SimulatedStep simulated(const StepPlan& plan, const Experiment& job);

}  // namespace payoff::test
