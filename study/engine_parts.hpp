// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/experiment.hpp"
#include "study/engine.hpp"

// What the engines after papers share: the part of a step that the papers do not model, taken from
// Payoff's own plan, and the layouts that none of them can express.

namespace payoff::engines {

// Empty where data parallelism alone is asked for.
[[nodiscard]] std::string beyond_data_parallelism(const Experiment& experiment);

[[nodiscard]] Group group_of(const Experiment& experiment);
[[nodiscard]] Bytes sent(const BucketKind& bucket);

// A prediction without its communication, and with it.
[[nodiscard]] StepPrediction around(const StepPlan& plan);
[[nodiscard]] EngineAnswer finished(StepPrediction prediction, const PreparedExperiment& prepared,
                                    const CompressionPlan& compression);
[[nodiscard]] EngineAnswer no_answer(std::string reason);

[[nodiscard]] EngineAnswer simulated(const PreparedExperiment& prepared,
                                     const CompressionPlan& compression, const ClusterState& state);
[[nodiscard]] EngineAnswer agarwal2022(const PreparedExperiment& prepared,
                                       const CompressionPlan& compression);
[[nodiscard]] EngineAnswer bian2024(const PreparedExperiment& prepared,
                                    const CompressionPlan& compression);
[[nodiscard]] EngineAnswer mgwfbp(const PreparedExperiment& prepared,
                                  const CompressionPlan& compression);

}  // namespace payoff::engines
