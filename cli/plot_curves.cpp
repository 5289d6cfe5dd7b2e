// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "cli/chart_typed.hpp"
#include "cli/plot_view.hpp"
#include "cli/speedup_chart.hpp"
#include "cli/table.hpp"

// Curves of `payoff plot`, and their CSV.

namespace payoff {
namespace {

std::string column_of(PlotQuantity quantity) {
  switch (quantity) {
    case PlotQuantity::step_time:
      return "step_seconds";
    case PlotQuantity::efficiency:
      return "efficiency_ratio";
    case PlotQuantity::exposed:
      return "exposed_communication_seconds";
    case PlotQuantity::speedup:
      break;
  }
  return "speedup";
}

std::string curves_csv(const Chart& chart, const PlotQuestion& question) {
  std::string text = csv_line(
      {"strategy", axis_text(question.axis).column, column_of(question.quantity), "break_even"});
  // Each point once: a mark is one of them.
  const auto add = [&text](const ChartCurve& curve) {
    for (const ChartPoint& point : curve.points) {
      const bool marked = std::any_of(curve.marks.begin(), curve.marks.end(),
                                      [&](const ChartPoint& mark) { return mark.x == point.x; });
      text += csv_line(
          {curve.label, exact_number(point.x), exact_number(point.y), marked ? "true" : "false"});
    }
  };
  add({chart.base_label, {}, chart.base, {}, {}});
  add(chart.rival);
  std::for_each(chart.curves.begin(), chart.curves.end(), add);
  return text;
}

}  // namespace

PlotView view_curves(const ReadExperiment& read, const PlotRequest& request) {
  const Chart chart = speedup_chart(read.experiment, read.limits, request.question);
  PlotView view;
  view.csv = curves_csv(chart, request.question);
  view.script = [chart](Picture picture, const std::string& output) {
    return gnuplot_script(chart, picture, output);
  };
  view.typed = [chart](const TypedForm& form) { return typed(chart, form); };
  return view;
}

}  // namespace payoff
