// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/frontier_map.hpp"
#include "cli/result_axis.hpp"
#include "cli/result_view.hpp"
#include "cli/table.hpp"

// `payoff plot RESULTS --y AXIS`: the speedup over two axes of a sweep, and where it breaks even.

namespace payoff {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

class MapOfResults {
 public:
  MapOfResults(const SweepResults& results, const ResultQuestion& question, Session& session)
      : results_(results), question_(question), session_(session) {}

  std::optional<PlotView> view() {
    if (!results_.column("speedup")) {
      session_.diagnostics().error(question_.place, "these results have no speedups");
      return std::nullopt;
    }
    collect();
    if (session_.diagnostics().has_errors()) {
      return std::nullopt;
    }
    const HeatMap map = make_map();
    PlotView view;
    view.csv = csv();
    view.script = [map](Picture picture, const std::string& output) {
      return gnuplot_script(map, picture, output);
    };
    view.typed = [map](const TypedForm& form) { return typed(map, form); };
    return view;
  }

 private:
  [[nodiscard]] const ResultColumn& x() const { return results_.columns[question_.x]; }
  [[nodiscard]] const ResultColumn& y() const { return results_.columns[question_.y]; }

  void collect() {
    std::map<std::pair<double, double>, std::size_t> places;  // y before x: row by row
    for (const std::size_t row : question_.rows) {
      if (!std::isfinite(x().numbers[row]) || !std::isfinite(y().numbers[row])) {
        continue;  // has no place, and no order among the others
      }
      const auto [place, is_first] = places.try_emplace({y().numbers[row], x().numbers[row]}, row);
      if (!is_first) {
        report_same_place(results_, question_, place->second, row, session_);
        return;
      }
      grid_.xs.push_back(x().numbers[row]);
      grid_.ys.push_back(y().numbers[row]);
    }
    for (std::vector<double>* values : {&grid_.xs, &grid_.ys}) {
      std::sort(values->begin(), values->end());
      values->erase(std::unique(values->begin(), values->end()), values->end());
    }
    for (const double at_y : grid_.ys) {
      for (const double at_x : grid_.xs) {
        const auto place = places.find({at_y, at_x});
        grid_.values.push_back(place == places.end() ? std::nullopt : value_at(place->second));
      }
    }
    if (grid_.xs.size() < 2 || grid_.ys.size() < 2) {
      session_.diagnostics().error(question_.place, "a map needs two values at least on each axis");
    }
    add_straight_lines(grid_);
  }

  [[nodiscard]] std::optional<FrontierValue> value_at(std::size_t row) const {
    const auto number = [&](const char* name) {
      const auto column = results_.column(name);
      return column ? results_.columns[*column].numbers[row] : unknown;
    };
    const double speedup = number("speedup");
    const auto status = results_.column("status");
    return std::isfinite(speedup) ? std::optional(FrontierValue{
                                        speedup, number("speedup_against_remedy"),
                                        status && results_.columns[*status].texts[row] == "fits"})
                                  : std::nullopt;
  }

  HeatMap make_map() const {
    const ColumnScale across = column_scale(results_, question_.x, question_.rows);
    const ColumnScale up = column_scale(results_, question_.y, question_.rows);
    HeatMap map;
    map.title = results_.experiment;
    map.captions = {fmt::format("Speedup of {} over uncompressed.", question_.plan)};
    map.picture_captions = {"Lines: straight between results."};
    for (std::string& caption : result_captions(results_, question_)) {
      map.captions.push_back(std::move(caption));
    }
    map.x_label = across.label;
    map.y_label = up.label;
    map.value_label = "speedup over uncompressed";
    map.xs = in_unit(grid_.xs, across.unit);
    map.ys = in_unit(grid_.ys, up.unit);
    map.x = filled_axis(column_axis(results_, question_.x, map.xs.front(), map.xs.back()), map.xs);
    map.y = filled_axis(column_axis(results_, question_.y, map.ys.front(), map.ys.back()), map.ys);
    for (const std::optional<FrontierValue>& value : grid_.values) {
      map.cells.push_back(value ? std::optional(frontier_cell(*value)) : std::nullopt);
      map.gap_label = value ? map.gap_label : "no result";
    }
    map.lines = frontier_lines(grid_, across.unit, up.unit);
    map.mark_label = "does not fit a GPU";
    return map;
  }

  [[nodiscard]] std::string csv() const {
    std::string text = csv_line({"strategy", "kind", x().name, y().name, "speedup", "fits"});
    for (std::size_t row = 0; row < grid_.ys.size(); ++row) {
      for (std::size_t column = 0; column < grid_.xs.size(); ++column) {
        if (const std::optional<FrontierValue>& value = grid_.at(column, row)) {
          text += csv_line({question_.plan, "grid", exact_number(grid_.xs[column]),
                            exact_number(grid_.ys[row]), exact_number(value->speedup),
                            value->fits ? "true" : "false"});
        }
      }
    }
    const auto add_lines = [&](const std::vector<FrontierLine>& lines, const char* kind) {
      for (const FrontierLine& line : lines) {
        for (const FrontierPlace& place : line) {
          text += csv_line(
              {question_.plan, kind, exact_number(place.x), exact_number(place.y), "", ""});
        }
      }
    };
    add_lines(grid_.even, "even_with_uncompressed");
    add_lines(grid_.even_with_remedy, "even_with_remedy");
    return text;
  }

  const SweepResults& results_;
  const ResultQuestion& question_;
  Session& session_;
  Frontier grid_;
};

}  // namespace

std::optional<PlotView> view_result_map(const SweepResults& results, const ResultQuestion& question,
                                        Session& session) {
  return MapOfResults(results, question, session).view();
}

}  // namespace payoff
