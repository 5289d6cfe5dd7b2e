// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "cli/chart.hpp"
#include "cli/plot_labels.hpp"
#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/scaling.hpp"

// The chart that answers an experiment: the speedup of every strategy against GPUs, bandwidth or
// size of the model, with the best uncompressed remedy as a curve of its own. A strategy pays where
// it lies above that curve; the crossings are those of the tables of `payoff predict`. Or, with the
// uncompressed job as a curve too: time of a step, exposed communication, scaling efficiency.

namespace payoff {

enum class PlotRival { uncompressed, remedy };

struct PlotQuestion {
  PlotAxis axis{};
  PlotQuantity quantity{};
  PlotRival rival{};  // what speedups are relative to
  ScalingOptions scaling;
};

// Of the job as given; nullopt where none compresses.
[[nodiscard]] std::optional<std::size_t> fastest_plan(const Experiment& experiment);

// Its curves have no points where the layout has no job within the range.
[[nodiscard]] Chart speedup_chart(const Experiment& experiment, const RemedyLimits& limits,
                                  const PlotQuestion& asked);

}  // namespace payoff
