// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/chart.hpp"
#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/scaling.hpp"

// The chart that answers an experiment: the speedup of every strategy against GPUs or bandwidth,
// with the best uncompressed remedy as a curve of its own. A strategy pays where it lies above
// that curve; the crossings are those of the tables of `payoff predict`.

namespace payoff {

enum class PlotAxis { gpus, bandwidth };
enum class PlotRival { uncompressed, remedy };

struct PlotQuestion {
  PlotAxis axis{};
  PlotRival rival{};  // what speedups are relative to
  ScalingOptions scaling;
};

// Its curves have no points where the layout has no job within the range.
[[nodiscard]] Chart speedup_chart(const Experiment& experiment, const RemedyLimits& limits,
                                  const PlotQuestion& question);

}  // namespace payoff
