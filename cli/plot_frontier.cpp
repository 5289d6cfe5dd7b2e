// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/frontier_map.hpp"
#include "cli/heat_map.hpp"
#include "cli/option_values.hpp"
#include "cli/plot_labels.hpp"
#include "cli/plot_view.hpp"
#include "cli/speedup_notes.hpp"
#include "cli/table.hpp"
#include "study/frontier.hpp"

// `payoff plot --y AXIS`: the speedup of one strategy over two axes, and where it breaks even.

namespace payoff {
namespace {

constexpr int map_columns = 36;
constexpr int rows = 28;

JobScale scale_of(const Experiment& experiment, PlotAxis axis, const ScalingOptions& range,
                  int count) {
  switch (axis) {
    case PlotAxis::bandwidth:
      return bandwidth_scale(range.lowest_bandwidth, range.highest_bandwidth, count);
    case PlotAxis::model:
      return size_scale(experiment, range.fewest_parameters, range.most_parameters, count);
    case PlotAxis::gpus:
      break;
  }
  return gpu_scale(experiment, range.fewest_gpus, range.most_gpus, count);
}

std::optional<std::size_t> plan_of(const Experiment& experiment, const PlotRequest& request,
                                   Session& session) {
  if (!request.plan) {
    const std::optional<std::size_t> fastest = fastest_plan(experiment);
    if (!fastest) {
      session.diagnostics().error(request.place, "no strategy is given", {},
                                  "for example `--compress powersgd:rank=4`");
    }
    return fastest;
  }
  std::vector<std::string> labels;
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    if (experiment.plans[i].label == request.plan->text) {
      return i;
    }
    labels.push_back(experiment.plans[i].label);
  }
  report_unknown_name("a strategy", *request.plan, labels, session);
  return std::nullopt;
}

ChartAxis filled_axis(PlotAxis axis, const std::vector<double>& values) {
  return filled_axis(axis_between(axis, values.front(), values.back()), values);
}

// Why places have no value; empty where all have one.
std::string missing(const Frontier& frontier, const std::string& plan) {
  if (frontier.why_not.empty()) {
    return frontier.lacks_jobs ? "no such job" : "";
  }
  return fmt::format("{}no {} {}: {}", frontier.lacks_jobs ? "no such job, or " : "", plan,
                     frontier.lacks_jobs ? "in it" : "in these jobs", frontier.why_not);
}

HeatMap map_of(const Experiment& experiment, const Frontier& frontier, std::size_t plan,
               const PlotRequest& request) {
  const PlotAxis x = request.question.axis;
  const AxisText x_text = axis_text(x);
  const AxisText y_text = axis_text(request.y);
  HeatMap map;
  map.title = plot_title(experiment, {x, request.y});
  map.captions = {fmt::format("Speedup of {} over uncompressed.", experiment.plans[plan].label)};
  map.x_label = x_text.label;
  map.y_label = y_text.label;
  map.value_label = "speedup over uncompressed";
  map.xs = in_unit(frontier.xs, x_text.unit);
  map.ys = in_unit(frontier.ys, y_text.unit);
  map.x = filled_axis(x, map.xs);
  map.y = filled_axis(request.y, map.ys);
  for (const std::optional<FrontierValue>& value : frontier.values) {
    std::optional<HeatCell>& cell = map.cells.emplace_back();
    if (value) {
      cell = frontier_cell(*value);
    }
  }
  map.gap_label = missing(frontier, experiment.plans[plan].label);
  map.lines = frontier_lines(frontier, x_text.unit, y_text.unit);
  map.mark_label = "does not fit a GPU";
  return map;
}

std::string frontier_csv(const HeatMap& map, const Frontier& frontier, const PlotRequest& request,
                         const std::string& label) {
  const std::string x = axis_text(request.question.axis).column;
  const std::string y = axis_text(request.y).column;
  std::string text =
      csv_line({"strategy", "kind", x, y, "speedup", "speedup_against_remedy", "fits"});
  for (std::size_t row = 0; row < map.ys.size(); ++row) {
    for (std::size_t column = 0; column < map.xs.size(); ++column) {
      if (const std::optional<FrontierValue>& value = frontier.at(column, row)) {
        text += csv_line({label, "grid", exact_number(map.xs[column]), exact_number(map.ys[row]),
                          exact_number(value->speedup), exact_number(value->against_remedy),
                          value->fits ? "true" : "false"});
      }
    }
  }
  const auto add_line = [&](const HeatLine& line, const std::string& kind) {
    for (const std::vector<ChartPoint>& path : line.paths) {
      for (const ChartPoint& point : path) {
        text += csv_line({label, kind, exact_number(point.x), exact_number(point.y), "", "", ""});
      }
    }
  };
  constexpr std::array kinds{"even_with_uncompressed", "even_with_remedy"};
  for (std::size_t i = 0; i < map.lines.size(); ++i) {  // the second where a remedy is known
    add_line(map.lines[i], kinds.at(i));
  }
  return text;
}

}  // namespace

std::optional<PlotView> view_frontier(const ReadExperiment& read, const PlotRequest& request,
                                      Session& session) {
  const Experiment& experiment = read.experiment;
  const std::optional<std::size_t> plan = plan_of(experiment, request, session);
  if (!plan) {
    return std::nullopt;
  }
  const FrontierQuestion question{
      experiment, *plan, read.limits,
      scale_of(experiment, request.question.axis, request.question.scaling, map_columns),
      scale_of(experiment, request.y, request.y_range, rows)};
  if (question.x.values.size() < 2 || question.y.values.size() < 2) {
    session.diagnostics().error(request.place, "a map needs two jobs at least on each axis", {},
                                "widen the ranges: --from, --to, --y-from, --y-to");
    return std::nullopt;
  }
  const Frontier frontier = find_frontier(question);
  if (std::none_of(frontier.values.begin(), frontier.values.end(),
                   [](const auto& value) { return value.has_value(); })) {
    session.diagnostics().error(
        request.place, "nothing is on the map: " + missing(frontier, experiment.plans[*plan].label),
        {}, "other ranges: --from, --to, --y-from, --y-to");
    return std::nullopt;
  }
  HeatMap map = map_of(experiment, frontier, *plan, request);
  for (const auto& [axis, range] : {std::pair{request.question.axis, request.question.scaling},
                                    std::pair{request.y, request.y_range}}) {
    if (axis == PlotAxis::gpus) {
      if (const std::string note = gpus_end_note(experiment, range); !note.empty()) {
        map.captions.push_back(note);
      }
    }
  }
  PlotView view;
  view.csv = frontier_csv(map, frontier, request, experiment.plans[*plan].label);
  view.script = [map](Picture picture, const std::string& output) {
    return gnuplot_script(map, picture, output);
  };
  view.typed = [map](const TypedForm& form) { return typed(map, form); };
  return view;
}

}  // namespace payoff
