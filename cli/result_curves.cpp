// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/chart_style.hpp"
#include "cli/chart_typed.hpp"
#include "cli/crossings.hpp"
#include "cli/result_axis.hpp"
#include "cli/result_view.hpp"
#include "cli/table.hpp"

// `payoff plot RESULTS`: curves of what a sweep found.

namespace payoff {
namespace {

constexpr std::size_t most_curves = 28;  // looks that can be told apart (cli/chart_style.hpp)

struct Series {
  std::string label;
  std::string strategy;
  std::map<double, std::size_t> rows;  // by x
};

// "tp 8", but "25 Gb/s" and "fp16": what has a unit or a name needs no word before it.
std::string label_part(const SweepResults& results, std::size_t column, std::size_t row) {
  const ResultColumn& of = results.columns[column];
  const std::string value = results.value_text(column, row);
  return of.is_text() || !unit_suffix(of.name).empty()
             ? value
             : column_words(results, column) + " " + value;
}

class CurvesOfResults {
 public:
  CurvesOfResults(const SweepResults& results, const ResultQuestion& question, Session& session)
      : results_(results), question_(question), session_(session) {}

  std::optional<PlotView> view() {
    collect();
    if (session_.diagnostics().has_errors()) {
      return std::nullopt;
    }
    const Chart chart = make_chart();
    PlotView view;
    view.csv = csv();
    view.script = [chart](Picture picture, const std::string& output) {
      return gnuplot_script(chart, picture, output);
    };
    view.typed = [chart](const TypedForm& form) { return typed(chart, form); };
    return view;
  }

 private:
  [[nodiscard]] const ResultColumn& x() const { return results_.columns[question_.x]; }
  [[nodiscard]] const ResultColumn& y() const { return results_.columns[question_.y]; }
  [[nodiscard]] bool has_speedups() const { return y().name == "speedup"; }

  // Curves in the order of their first result.
  void collect() {
    std::map<std::string, std::size_t> known;
    const auto strategy = results_.column("strategy");
    bool told = false;
    for (const std::size_t row : question_.rows) {
      const double at = x().numbers[row];
      if (!std::isfinite(at) || !std::isfinite(y().numbers[row])) {
        continue;
      }
      std::string label;
      for (const std::size_t column : question_.by) {
        label += (label.empty() ? "" : ", ") + label_part(results_, column, row);
      }
      const auto [place, is_new] = known.try_emplace(label, series_.size());
      if (is_new) {
        series_.push_back({label, strategy ? results_.columns[*strategy].texts[row] : "", {}});
      }
      const auto [point, is_first] = series_[place->second].rows.try_emplace(at, row);
      if (!is_first && !told) {
        report_same_place(results_, question_, point->second, row, session_);
        told = true;
      }
    }
    if (has_speedups() && question_.plan.empty()) {  // one everywhere: that is the base
      std::erase_if(series_, [&](const Series& series) {
        return series.strategy == results_.strategies.front();
      });
    }
    if (series_.empty() || series_.size() > most_curves) {
      session_.diagnostics().error(
          series_.empty() ? question_.y_place : question_.place,
          series_.empty() ? fmt::format("no result has a number under {}", backquoted(y().name))
                          : fmt::format("{} curves are more than can be told apart ({})",
                                        series_.size(), most_curves),
          {}, series_.empty() ? "" : "`--where COLUMN=VALUE` leaves results out");
    }
  }

  // Hues tell methods apart, unless there is one, or shades do not suffice for the others.
  [[nodiscard]] bool has_hue_of_its_own(const Series& series) const {
    constexpr auto most_shades = 4;
    return !question_.plan.empty() ||
           (question_.by.size() > 1 &&
            std::count_if(series_.begin(), series_.end(), [&series](const Series& each) {
              return family_of(each.strategy) == family_of(series.strategy);
            }) > most_shades);
  }

  [[nodiscard]] std::vector<ChartPoint> points_of(const Series& series, double x_unit) const {
    std::vector<ChartPoint> points;
    points.reserve(series.rows.size());
    for (const auto& [at, row] : series.rows) {
      points.push_back({at / x_unit, y().numbers[row]});
    }
    return points;
  }

  // "even between 8 and 16": the results next to it, as their files have them.
  [[nodiscard]] std::string where_it_crosses(const Series& series,
                                             const std::vector<std::size_t>& crossings) const {
    constexpr std::size_t most_named = 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(crossings.size(), most_named); ++i) {
      const auto after = std::next(series.rows.begin(), static_cast<std::ptrdiff_t>(crossings[i]));
      text += fmt::format("{}{} and {}", i == 0 ? "even between " : ", ",
                          results_.value_text(question_.x, std::prev(after)->second),
                          results_.value_text(question_.x, after->second));
    }
    return text + (crossings.size() > most_named ? ", ..." : "");
  }

  // Only the strategy tells curves apart, and the uncompressed job is one of them.
  [[nodiscard]] bool is_base(const Series& series) const {
    return !has_speedups() && question_.by.size() == 1 && question_.plan.empty() &&
           series.strategy == results_.strategies.front();
  }

  Chart make_chart() {
    const ColumnScale across = column_scale(results_, question_.x, question_.rows);
    const ColumnScale up = column_scale(results_, question_.y, question_.rows);
    Chart chart;
    chart.title = results_.experiment;
    chart.captions = result_captions(results_, question_);
    chart.x_label = across.label;
    chart.y_label = up.label;
    chart.y_unit = up.unit;
    chart.base_label = has_speedups() ? "uncompressed" : "";
    bool crosses = false;
    for (const Series& series : series_) {
      const std::vector<ChartPoint> points = points_of(series, across.unit);
      if (is_base(series)) {
        chart.base_label = "uncompressed";
        chart.base = points;
        continue;
      }
      ChartCurve& curve = chart.curves.emplace_back();
      curve.label = series.label.empty() ? series.strategy : series.label;
      curve.family = has_hue_of_its_own(series) ? curve.label : family_of(series.strategy);
      curve.points = points;
      if (has_speedups()) {
        curve.crossings = crossings(points, 1.0);
        curve.remark = where_it_crosses(series, curve.crossings);
        crosses = crosses || !curve.crossings.empty();
      }
    }
    if (crosses) {
      chart.picture_captions.emplace_back(
          "Wide line: begins or ceases to pay somewhere between these two results.");
    }
    chart.symbols_at_points = true;
    add_remedy(across.unit, chart);
    add_band(across.unit, chart);
    set_axes(chart);
    return chart;
  }

  // Sweeps with verdicts know how fast the best remedy is, at every place.
  void add_remedy(double x_unit, Chart& chart) const {
    const auto against = results_.column("speedup_against_remedy");
    if (!has_speedups() || !against || question_.by.size() != 1 || !question_.plan.empty()) {
      return;
    }
    std::map<double, double> remedy;
    for (const Series& series : series_) {
      for (const auto& [at, row] : series.rows) {
        const double ratio = results_.columns[*against].numbers[row];
        if (ratio > 0.0) {
          remedy.try_emplace(at, y().numbers[row] / ratio);
        }
      }
    }
    for (const auto& [at, speedup] : remedy) {
      chart.rival.points.push_back({at / x_unit, speedup});
    }
    chart.rival.label = "best remedy";
  }

  // Of the first curve alone: several ribbons hide one another.
  void add_band(double x_unit, Chart& chart) const {
    const auto low = results_.column("speedup_low");
    const auto high = results_.column("speedup_high");
    if (!has_speedups() || !low || !high || chart.curves.empty()) {
      return;
    }
    const Series& series = series_.front();
    for (const auto& [at, row] : series.rows) {
      if (results_.columns[*low].numbers[row] > 0.0) {
        chart.curves.front().band.push_back({at / x_unit, results_.columns[*low].numbers[row],
                                             results_.columns[*high].numbers[row]});
      }
    }
    chart.picture_captions.push_back(
        fmt::format("Ribbon: 90 % of the draws of {}.", chart.curves.front().label));
  }

  void set_axes(Chart& chart) const {
    double low = std::numeric_limits<double>::infinity();
    double high = 0.0;
    bool positive = true;
    const auto see = [&](const std::vector<ChartPoint>& points) {
      for (const ChartPoint& point : points) {
        low = std::min(low, point.x);
        high = std::max(high, point.x);
        positive = positive && point.y > 0.0;
      }
    };
    see(chart.base);
    for (const ChartCurve& curve : chart.curves) {
      see(curve.points);
    }
    chart.x = column_axis(results_, question_.x, low, high);
    const bool share = y().name == "efficiency_ratio" || y().name == "probability";
    chart.values = has_speedups()       ? ChartValues::speedups
                   : positive && !share ? ChartValues::positive
                                        : ChartValues::from_zero;
  }

  [[nodiscard]] std::string csv() const {
    std::vector<std::string> header;
    header.reserve(question_.by.size() + 2);
    for (const std::size_t column : question_.by) {
      header.push_back(results_.columns[column].name);
    }
    header.push_back(x().name);
    header.push_back(y().name);
    std::string text = csv_line(header);
    for (const Series& series : series_) {
      for (const auto& [at, row] : series.rows) {
        std::vector<std::string> cells;
        for (const std::size_t column : question_.by) {
          const ResultColumn& of = results_.columns[column];
          cells.push_back(of.is_text() ? of.texts[row] : exact_number(of.numbers[row]));
        }
        cells.push_back(exact_number(at));
        cells.push_back(exact_number(y().numbers[row]));
        text += csv_line(cells);
      }
    }
    return text;
  }

  const SweepResults& results_;
  const ResultQuestion& question_;
  Session& session_;
  std::vector<Series> series_;
};

}  // namespace

std::optional<PlotView> view_result_curves(const SweepResults& results,
                                           const ResultQuestion& question, Session& session) {
  return CurvesOfResults(results, question, session).view();
}

}  // namespace payoff
