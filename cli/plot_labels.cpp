// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_labels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/chart_span.hpp"
#include "cli/counted.hpp"
#include "cli/names.hpp"
#include "model/units_text.hpp"

namespace payoff {

AxisText axis_text(PlotAxis axis) {
  switch (axis) {
    case PlotAxis::bandwidth:
      return {"line rate of one NIC [Gb/s]", "bandwidth_gigabits_per_second", (1_Gbps).si};
    case PlotAxis::model:
      return {"parameters of the model [billions]", "billions_of_parameters", 1e9};
    case PlotAxis::gpus:
      break;
  }
  return {"GPUs", "gpus", 1.0};
}

ChartAxis axis_between(PlotAxis axis, double low, double high) {
  switch (axis) {
    case PlotAxis::bandwidth:
      return span_axis(low, high, usual_rates(low, high));
    case PlotAxis::model: {
      // A model is rarely of a round size: the ends are not written.
      ChartAxis result = span_axis(low, high, {});
      if (const std::vector<double> ticks = round_numbers(low, high); ticks.size() > 1) {
        result.ticks = ticks;
      }
      return result;
    }
    case PlotAxis::gpus:
      break;
  }
  return span_axis(low, high, doublings(low, high));
}

std::string plot_title(const Experiment& experiment, const std::vector<PlotAxis>& varied) {
  const auto varies = [&varied](PlotAxis axis) {
    return std::find(varied.begin(), varied.end(), axis) != varied.end();
  };
  const Cluster& cluster = experiment.cluster;
  std::string text = fmt::format("{}{} on {}", name_of(experiment.model),
                                 varies(PlotAxis::model) ? " and its like" : "", cluster.name);
  if (!varies(PlotAxis::gpus)) {
    text += ", " + counted(experiment.layout.ranks(), "GPU");
  } else if (!varies(PlotAxis::bandwidth)) {
    text += fmt::format(", {} x {} a node", cluster.nics_per_node, link_rate_text(cluster.nic));
  }
  return text + fmt::format(", {} a GPU and micro-batch",
                            counted(experiment.layout.micro_batch, "sample"));
}

std::string memory_note(const Experiment& experiment) {
  const PreparedExperiment prepared(experiment);
  std::vector<std::string> labels;
  Memory largest;
  for (const CompressionPlan& plan : experiment.plans) {
    const Memory memory = prepared.predict(plan).memory;
    if (!memory.fits()) {
      labels.push_back(&plan == &experiment.plans.front() ? "uncompressed" : plan.label);
      largest = memory.total() > largest.total() ? memory : largest;
    }
  }
  if (labels.empty()) {
    return {};
  }
  const std::string size =
      fmt::format("{} of {}", to_text(largest.total()), to_text(largest.capacity));
  return labels.size() == experiment.plans.size()
             ? fmt::format("The job as given does not fit a GPU, compressed or not: {}.", size)
             : fmt::format("Does not fit a GPU in the job as given: {} (up to {}).",
                           fmt::join(labels, ", "), size);
}

void set_values(PlotQuantity quantity, Chart& chart) {
  chart.less_is_better = quantity == PlotQuantity::exposed;
  chart.values = quantity == PlotQuantity::step_time ? ChartValues::positive
                 : quantity == PlotQuantity::speedup ? ChartValues::speedups
                                                     : ChartValues::from_zero;
  const bool in_seconds = shown_values(chart).high >= 1.0;
  const std::string unit = in_seconds ? "s" : "ms";
  chart.y_unit = in_seconds ? 1.0 : 1e-3;
  switch (quantity) {
    case PlotQuantity::step_time:
      chart.y_label = "time of a step [" + unit + "]";
      return;
    case PlotQuantity::exposed:
      chart.y_label = "exposed communication of a step [" + unit + "]";
      return;
    case PlotQuantity::efficiency:
      chart.y_unit = 0.01;
      chart.y_label = "scaling efficiency [%]";
      return;
    case PlotQuantity::speedup:
      chart.y_unit = 1.0;
      chart.y_label = "speedup over " + chart.base_label;
      return;
  }
}

}  // namespace payoff
