// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_axes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/plot_request.hpp"
#include "model/groups.hpp"
#include "study/gpu_counts.hpp"
#include "study/scaled_job.hpp"
#include "study/scaled_model.hpp"

// What the axes that were asked for cannot show of an experiment.

namespace payoff {
namespace {

// Why no job has the numbers of GPUs that were asked for.
void check_gpu_range(const Experiment& experiment, const ScalingOptions& range,
                     const std::optional<Span>& place, Session& session) {
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.gpus;
  const int low = (range.fewest_gpus + gpus - 1) / gpus;
  const int high = range.most_gpus / gpus;
  const auto refuse = [&](const std::string& help) {
    session.diagnostics().error(
        place, fmt::format("no such job has {} to {} GPUs", range.fewest_gpus, range.most_gpus), {},
        help);
  };
  if (high < low) {
    refuse(fmt::format("whole replicas on whole nodes: a multiple of {} GPUs", gpus));
    return;
  }
  const std::vector<double> counts = step_counts(std::max(1, low), high);
  const auto is_possible = [&](double count) {
    return with_dp(experiment, static_cast<int>(count) * step.replicas).has_value();
  };
  const int present = experiment.layout.dp / step.replicas;
  if ((present < low || present > high) &&
      std::none_of(counts.begin(), counts.end(), is_possible)) {
    refuse(why_not_with_dp(experiment, static_cast<int>(counts.front()) * step.replicas));
  }
}

void check_axis(const Experiment& experiment, PlotKind kind, PlotAxis axis,
                const ScalingOptions& range, const AxisOptions& options, const Arguments& arguments,
                Session& session) {
  const std::optional<Span> place = range_place(arguments, options);
  if (axis == PlotAxis::gpus) {
    check_gpu_range(experiment, range, place, session);
    return;
  }
  const std::optional<Span> axis_place = arguments.value(options.axis)->span;
  if (axis == PlotAxis::bandwidth) {
    if (experiment.cluster.nodes == 1) {
      session.diagnostics().error(axis_place, "no NIC is used on one node");
    } else if (kind == PlotKind::curves &&
               data_group(experiment.layout, experiment.cluster.gpus_per_node).nodes() < 2) {
      session.diagnostics().error(axis_place, "no gradients pass a NIC", {},
                                  "every data-parallel group of this job stays within a node");
    }
    return;
  }
  if (const std::string_view reason = unscalable(experiment); !reason.empty()) {
    session.diagnostics().error(axis_place, "the size of this model cannot be changed", {},
                                std::string(reason));
  } else if (model_sizes(experiment, range.fewest_parameters, range.most_parameters, 1).empty()) {
    session.diagnostics().error(
        place, fmt::format("no model of this build that the layout can hold has {:.3g} to {:.3g} "
                           "parameters",
                           range.fewest_parameters, range.most_parameters));
  }
}

}  // namespace

std::optional<Span> range_place(const Arguments& arguments, const AxisOptions& options) {
  return span_of(arguments.first_of({options.to, options.from, options.axis}));
}

void check_axes(const ReadExperiment& read, const PlotRequest& request, const Arguments& arguments,
                Session& session) {
  const Experiment& experiment = read.experiment;
  const bool is_map = request.kind == PlotKind::frontier;
  if (request.kind != PlotKind::curves && !is_map) {
    return;
  }
  if (experiment.cluster.is_mixed() &&
      (request.question.axis == PlotAxis::gpus || (is_map && request.y == PlotAxis::gpus))) {
    session.diagnostics().error(
        read.positions.find("cluster.node_kinds"),
        "more GPUs of several kinds of nodes: nobody says of which kind", {},
        "`--x bandwidth` and `--x model` keep the nodes, --waterfall, --roofline and --tornado are "
        "of the job as it is; `payoff sweep --over cluster.node_kinds.0.nodes=...` adds nodes");
    return;
  }
  check_axis(experiment, request.kind, request.question.axis, request.question.scaling, x_options,
             arguments, session);
  if (is_map) {
    check_axis(experiment, request.kind, request.y, request.y_range, y_options, arguments, session);
  }
}

}  // namespace payoff
