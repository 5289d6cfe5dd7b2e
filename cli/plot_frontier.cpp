// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/heat_map.hpp"
#include "cli/option_values.hpp"
#include "cli/plot_labels.hpp"
#include "cli/plot_view.hpp"
#include "cli/table.hpp"
#include "study/frontier.hpp"

// `payoff plot --y AXIS`: the speedup of one strategy over two axes, and where it breaks even.

namespace payoff {
namespace {

constexpr int columns = 36;
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

// Why there is no line: all values are on one side of it, or it would run beside grey cells only,
// where there is no job to predict.
std::string without_line(const Frontier& frontier, double FrontierValue::*ratio) {
  std::size_t faster = 0;
  std::size_t slower = 0;
  for (const std::optional<FrontierValue>& value : frontier.values) {
    faster += value && (*value).*ratio > 1.0 ? 1U : 0U;
    slower += value && (*value).*ratio < 1.0 ? 1U : 0U;
  }
  if (faster > 0 && slower > 0) {
    return fmt::format(": faster in {} of {} cells, beside grey ones", faster,
                       std::count_if(frontier.values.begin(), frontier.values.end(),
                                     [](const auto& value) { return value.has_value(); }));
  }
  return faster > 0   ? ": nowhere here, faster"
         : slower > 0 ? ": nowhere here, slower"
                      : ": everywhere here";
}

// "as fast as uncompressed", or which way it is not.
HeatLine line_of(const Frontier& frontier, double FrontierValue::*ratio,
                 const std::vector<FrontierLine>& lines, const std::string& rival) {
  HeatLine result{"as fast as " + rival, "faster than " + rival, {}, false, {}};
  if (lines.empty()) {
    result.label += without_line(frontier, ratio);
  }
  for (const FrontierLine& line : lines) {
    std::vector<ChartPoint>& path = result.paths.emplace_back();
    for (const FrontierPlace& place : line) {
      path.push_back({place.x, place.y});
    }
  }
  return result;
}

// Both lines, in the units of the axes.
std::vector<HeatLine> lines_of(const Frontier& frontier, double x_unit, double y_unit) {
  std::vector<HeatLine> lines = {
      line_of(frontier, &FrontierValue::speedup, frontier.even, "uncompressed"),
      line_of(frontier, &FrontierValue::against_remedy, frontier.even_with_remedy,
              "the best uncompressed remedy")};
  lines[0].letter = '+';
  lines[1].letter = '#';
  lines[1].dashed = true;
  for (HeatLine& line : lines) {
    for (std::vector<ChartPoint>& path : line.paths) {
      for (ChartPoint& point : path) {
        point = {point.x / x_unit, point.y / y_unit};
      }
    }
  }
  return lines;
}

std::vector<double> in_unit(std::vector<double> values, double unit) {
  for (double& value : values) {
    value /= unit;
  }
  return values;
}

// The cells fill it: at the ends there is room for the last tick only.
ChartAxis filled_axis(PlotAxis axis, const std::vector<double>& values) {
  ChartAxis result = axis_between(axis, values.front(), values.back());
  result.low = values.front() / 1.002;
  result.high = values.back() * 1.002;
  return result;
}

HeatMap map_of(const Experiment& experiment, const Frontier& frontier, std::size_t plan,
               const PlotRequest& request) {
  const PlotAxis x = request.question.axis;
  const AxisText x_text = axis_text(x);
  const AxisText y_text = axis_text(request.y);
  HeatMap map;
  map.title = plot_title(experiment, {x, request.y});
  map.captions = {
      fmt::format("Colour: speedup of {} over uncompressed.", experiment.plans[plan].label)};
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
      const bool faster = value->speedup > 1.0;
      const bool beats = faster && value->against_remedy > 1.0;
      cell = HeatCell{value->speedup, !value->fits, beats ? 2U : faster ? 1U : 0U};
    } else if (map.captions.size() == 1) {
      map.captions.emplace_back("Grey: no such job, or nothing to compress in it.");
    }
  }
  map.lines = lines_of(frontier, x_text.unit, y_text.unit);
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
  add_line(map.lines[0], "even_with_uncompressed");
  add_line(map.lines[1], "even_with_remedy");
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
      scale_of(experiment, request.question.axis, request.question.scaling, columns),
      scale_of(experiment, request.y, request.y_range, rows)};
  if (question.x.values.size() < 2 || question.y.values.size() < 2) {
    session.diagnostics().error(request.place, "a map needs two jobs at least on each axis", {},
                                "widen the ranges: --from, --to, --y-from, --y-to");
    return std::nullopt;
  }
  const Frontier frontier = find_frontier(question);
  if (std::none_of(frontier.values.begin(), frontier.values.end(),
                   [](const auto& value) { return value.has_value(); })) {
    session.diagnostics().error(request.place, "no job of the map has anything to compress");
    return std::nullopt;
  }
  const HeatMap map = map_of(experiment, frontier, *plan, request);
  PlotView view;
  view.csv = frontier_csv(map, frontier, request, experiment.plans[*plan].label);
  view.script = [map](Picture picture, const std::string& output) {
    return gnuplot_script(map, picture, output);
  };
  view.typed = [map] { return typed(map); };
  return view;
}

}  // namespace payoff
