// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/chart.hpp"
#include "model/experiment.hpp"

// What the axes, titles and notes of the pictures of an experiment say.

namespace payoff {

enum class PlotAxis { gpus, bandwidth, model };

struct AxisText {
  std::string label;   // with the unit
  std::string column;  // of CSV
  double unit{1};      // of the axis, in GPUs, SI and parameters
};
[[nodiscard]] AxisText axis_text(PlotAxis axis);
// From one value of the axis to another, in its unit.
[[nodiscard]] ChartAxis axis_between(PlotAxis axis, double low, double high);

enum class PlotQuantity {
  speedup,
  step_time,
  efficiency,  // throughput of a GPU over that of the job as given on the fewest GPUs
  exposed      // communication that nothing hides
};
// Unit, label and kind of the axis for the curves of a chart: times in s or ms, efficiencies in %.
void set_values(PlotQuantity quantity, Chart& chart);

// Model, cluster, what the axes of the picture leave as it is, batch.
[[nodiscard]] std::string plot_title(const Experiment& experiment,
                                     const std::vector<PlotAxis>& varied);

// What of the job as given does not fit a GPU; empty where all of it does.
[[nodiscard]] std::string memory_note(const Experiment& experiment);

}  // namespace payoff
