// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_braille.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cli/braille_canvas.hpp"
#include "cli/chart_span.hpp"
#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

constexpr Dashes dotted{1, 2};
constexpr Dashes dashed{6, 3};
constexpr std::size_t no_ink = 0;  // the colour of the terminal's own text
constexpr std::size_t axis_rows = 2;
constexpr std::string_view break_even_sign = "○";

// Not far beyond the axis: a value of zero has no place on a logarithmic one.
double near_share(const ChartAxis& axis, double value) {
  constexpr double far = 4.0;
  const double share = share_of(axis, value);
  return std::isnan(share) ? -far : std::clamp(share, -far, far);
}

struct Stroke {
  std::vector<CanvasPoint> points;
  std::string sign;
  std::size_t ink{};
  Dashes dashes{};
};

class BrailleChart {
 public:
  BrailleChart(const Chart& chart, const TypedForm& form)
      : chart_(chart),
        form_(form),
        styles_(curve_styles(chart.curves)),
        y_(axis_of_values(chart)),
        left_(widest_label(y_)),
        canvas_(columns_of(chart, form, left_), rows_of(form)) {}

  std::string draw() {
    const std::vector<Stroke> strokes = all_strokes();
    for (const Stroke& stroke : strokes) {
      canvas_.line(stroke.points, stroke.ink, stroke.dashes);
    }
    draw_limits();
    draw_marks();  // letters take other places
    for (std::size_t i = 0; i < strokes.size(); ++i) {
      put_signs(strokes[i], i, strokes.size());
    }
    return rows() + bottom();
  }

 private:
  static std::size_t widest_label(const ChartAxis& axis) {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
      widest = std::max(widest, count_characters(axis_label(axis, i)));
    }
    return widest;
  }

  // The last label of the axis below is written around its tick.
  static std::size_t columns_of(const Chart& chart, const TypedForm& form, std::size_t left) {
    constexpr std::size_t fewest = 10;
    const std::size_t right =
        chart.x.ticks.empty() ? 0
                              : count_characters(axis_label(chart.x, chart.x.ticks.size() - 1)) / 2;
    const std::size_t beside = left + 2 + right;
    return form.columns > beside + fewest ? form.columns - beside : fewest;
  }
  static std::size_t rows_of(const TypedForm& form) { return typed_rows(form.columns) - axis_rows; }

  [[nodiscard]] CanvasPoint place(double x, double y) const {
    return {near_share(chart_.x, x) * canvas_.right(), near_share(y_, y) * canvas_.top()};
  }
  [[nodiscard]] std::vector<CanvasPoint> places(const std::vector<ChartPoint>& points) const {
    std::vector<CanvasPoint> result;
    result.reserve(points.size());
    for (const ChartPoint& point : points) {
      result.push_back(place(point.x, point.y));
    }
    return result;
  }

  // What is drawn first lies behind.
  [[nodiscard]] std::vector<Stroke> all_strokes() const {
    std::vector<Stroke> strokes;
    if (!chart_.base_label.empty()) {
      const std::vector<ChartPoint> one{{chart_.x.low, 1.0}, {chart_.x.high, 1.0}};
      strokes.push_back({places(chart_.base.empty() ? one : chart_.base), std::string(base_sign),
                         no_ink, dotted});
    }
    if (!chart_.rival.points.empty()) {
      strokes.push_back({places(chart_.rival.points), std::string(rival_sign), no_ink, dashed});
    }
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      strokes.push_back(
          {places(chart_.curves[i].points), std::string(1, styles_[i].letter), i + 1, {}});
    }
    return strokes;
  }

  // Where the line has the character's column, nullopt beside it and outside of the canvas.
  [[nodiscard]] std::optional<std::size_t> row_at(const Stroke& stroke, std::size_t column) const {
    const double x = (static_cast<double>(column) + 0.5) * BrailleCanvas::dots_across - 0.5;
    const std::vector<CanvasPoint>& points = stroke.points;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const CanvasPoint& a = points[i - 1];
      const CanvasPoint& b = points[i];
      if (a.x <= x && x <= b.x && b.x > a.x) {
        const double y = std::round(a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x));
        return y < 0 || y > canvas_.top()
                   ? std::nullopt
                   : std::optional(static_cast<std::size_t>(y) / BrailleCanvas::dots_up);
      }
    }
    return std::nullopt;
  }

  // The first to have a place keeps it; a line that found none gets the first that is free.
  void put_signs(const Stroke& stroke, std::size_t number, std::size_t of) {
    constexpr std::size_t between = 4;
    const std::size_t spacing = std::max<std::size_t>(16, between * of);
    const std::size_t first = spacing * (2 * number + 1) / (2 * of);
    bool found = false;
    const auto put = [&](std::size_t column) {
      const auto row = row_at(stroke, column);
      if (row && !canvas_.has_sign(column, *row)) {
        canvas_.sign(column, *row, stroke.sign, stroke.ink);
        found = true;
      }
    };
    for (std::size_t column = first; column < canvas_.columns(); column += spacing) {
      put(column);
    }
    for (std::size_t column = 0; column < canvas_.columns() && !found; ++column) {
      put(column);
    }
  }

  // Behind the lines.
  void draw_limits() {
    for (const ChartLimit& limit : chart_.limits) {
      const double x = std::round(place(limit.x, y_.low).x);
      for (std::size_t row = 0; row < canvas_.rows() && x >= 0 && x <= canvas_.right(); ++row) {
        const std::size_t column = static_cast<std::size_t>(x) / BrailleCanvas::dots_across;
        if (!canvas_.has_dots(column, row)) {
          canvas_.sign(column, row, limit_sign, no_ink);
        }
      }
    }
  }

  void draw_marks() {
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      for (const ChartPoint& mark : chart_.curves[i].marks) {
        const CanvasPoint at = place(mark.x, mark.y);
        const double x = std::round(at.x);
        const double y = std::round(at.y);
        if (x >= 0 && x <= canvas_.right() && y >= 0 && y <= canvas_.top()) {
          canvas_.sign(static_cast<std::size_t>(x) / BrailleCanvas::dots_across,
                       static_cast<std::size_t>(y) / BrailleCanvas::dots_up, break_even_sign,
                       i + 1);
        }
      }
    }
  }

  // From the top. Where two ticks share a row the lower one has it.
  [[nodiscard]] std::string rows() const {
    std::vector<std::string> labels(canvas_.rows());
    for (std::size_t i = y_.ticks.size(); i-- > 0;) {
      const double y = std::round(near_share(y_, y_.ticks[i]) * canvas_.top());
      if (y >= 0 && y <= canvas_.top()) {
        labels[static_cast<std::size_t>(y) / BrailleCanvas::dots_up] = axis_label(y_, i);
      }
    }
    const auto in_colour = [this](const std::string& text, std::size_t ink) {
      return form_.color ? painted(text, styles_[ink - 1].colour) : text;
    };
    std::string text;
    for (std::size_t row = canvas_.rows(); row-- > 0;) {
      text += std::string(left_ - count_characters(labels[row]), ' ') + labels[row] +
              (labels[row].empty() ? " │" : " ┤") + canvas_.row_text(row, in_colour) + "\n";
    }
    return text;
  }

  [[nodiscard]] std::string bottom() const {
    const ChartAxis axis = with_room_between(chart_.x, static_cast<double>(canvas_.columns()));
    std::vector<bool> ticks(canvas_.columns());
    std::string labels;
    std::size_t written = 0;
    for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
      const double x = std::clamp(near_share(axis, axis.ticks[i]), 0.0, 1.0) * canvas_.right();
      const std::size_t column =
          static_cast<std::size_t>(std::round(x)) / BrailleCanvas::dots_across;
      ticks[column] = true;
      const std::size_t width = count_characters(axis.labels[i]);
      const std::size_t middle = left_ + 2 + column;
      const std::size_t begin = std::max(written, middle - std::min(middle, width / 2));
      labels += std::string(begin - written, ' ') + axis.labels[i];
      written = begin + width;
    }
    std::string line = std::string(left_, ' ') + " └";
    for (const bool tick : ticks) {
      line += tick ? "┬" : "─";
    }
    return line + "\n" + labels + "\n";
  }

  const Chart& chart_;
  const TypedForm& form_;
  std::vector<CurveStyle> styles_;
  ChartAxis y_;
  std::size_t left_;
  BrailleCanvas canvas_;
};

}  // namespace

std::string braille_picture(const Chart& chart, const TypedForm& form) {
  return BrailleChart(chart, form).draw();
}

}  // namespace payoff
