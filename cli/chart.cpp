// SPDX-License-Identifier: Apache-2.0
#include "cli/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/chart_span.hpp"
#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"

namespace payoff {
namespace {

std::string block(std::string_view name, std::size_t number,
                  const std::vector<ChartPoint>& points) {
  std::string text = fmt::format("${}{} << EOD\n", name, number);
  for (const ChartPoint& point : points) {
    text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
  }
  return text + "EOD\n";
}

bool within(const std::vector<ChartPoint>& points, double x) {
  return !points.empty() && x >= points.front().x && x <= points.back().x;
}

// Symbols stand at points: at those next to ticks, of one family at different ones; or at all.
std::vector<ChartPoint> symbols(const ChartCurve& curve, const CurveStyle& style,
                                const Chart& chart) {
  constexpr std::size_t most_symbols = 24;  // more run into one another
  if (chart.symbols_at_points && curve.points.size() <= most_symbols) {
    return curve.points;
  }
  const std::vector<double>& ticks = chart.x.ticks;
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    if (i % style.members == style.member && within(curve.points, ticks[i])) {
      points.push_back(*std::min_element(
          curve.points.begin(), curve.points.end(), [&](const ChartPoint& a, const ChartPoint& b) {
            return std::abs(std::log(a.x / ticks[i])) < std::abs(std::log(b.x / ticks[i]));
          }));
    }
  }
  return points;
}

// Close enough for characters to form a line.
std::vector<ChartPoint> dense(const std::vector<ChartPoint>& points, const Chart& chart) {
  constexpr int count = 240;
  const ChartAxis& x = chart.x;
  const bool logarithmic = shown_values(chart).logarithmic;
  std::vector<ChartPoint> result;
  for (int i = 0; i <= count; ++i) {
    const double at = x.low * std::pow(x.high / x.low, i / double{count});
    if (within(points, at)) {
      result.push_back({at, value_at(points, at, logarithmic)});
    }
  }
  return result;
}

std::string data_blocks(const Chart& chart, const std::vector<CurveStyle>& styles,
                        Picture picture) {
  const bool dumb = picture == Picture::terminal;
  std::string text;
  if (!chart.rival.points.empty()) {
    text += "\n" + gnuplot_comment(chart.rival.label) +
            block("rival", 0, dumb ? dense(chart.rival.points, chart) : chart.rival.points);
  }
  if (!chart.base.empty()) {
    text += "\n" + gnuplot_comment(chart.base_label) +
            block("base", 0, dumb ? dense(chart.base, chart) : chart.base);
  }
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const ChartCurve& curve = chart.curves[i];
    text += "\n" + gnuplot_comment(curve.label);
    text += block("curve", i, dumb ? dense(curve.points, chart) : curve.points);
    if (!dumb) {
      text += block("symbols", i, symbols(curve, styles[i], chart));
    }
    if (!curve.marks.empty()) {
      text += block("marks", i, curve.marks);
    }
    if (!curve.crossings.empty() && !dumb) {
      text += fmt::format("$between{} << EOD\n", i);
      for (const std::size_t at : curve.crossings) {
        for (const ChartPoint& point : {curve.points[at - 1], curve.points[at]}) {
          text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
        }
        text += '\n';
      }
      text += "EOD\n";
    }
    if (!curve.band.empty() && !dumb) {
      text += fmt::format("$band{} << EOD\n", i);
      for (const ChartBandPoint& point : curve.band) {
        text += fmt::format("{:.6g} {:.6g} {:.6g}\n", point.x, point.low, point.high);
      }
      text += "EOD\n";
    }
  }
  return text;
}

std::string base_data(const Chart& chart) { return chart.base.empty() ? "1" : "$base0 using 1:2"; }

using Items = std::vector<std::string>;

void draw_ribbons(const Chart& chart, const std::vector<CurveStyle>& styles, Items& items) {
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    if (!chart.curves[i].band.empty()) {
      items.push_back(fmt::format(
          "$band{} using 1:2:3 with filledcurves fc rgb '{}' fs transparent solid 0.16 noborder "
          "notitle",
          i, styles[i].colour));
    }
  }
}

// From each break-even down to the axis; wide where nobody knows between which points it lies.
void draw_drop_lines(const Chart& chart, const std::vector<CurveStyle>& styles, Items& items) {
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    if (!chart.curves[i].marks.empty()) {
      items.push_back(
          fmt::format("$marks{} using 1:2 with impulses lc rgb '{}' dt (2,4) lw 1 "
                      "notitle",
                      i, styles[i].colour));
    }
  }
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    if (!chart.curves[i].crossings.empty()) {
      items.push_back(
          fmt::format("$between{} using 1:2 with lines lc rgb '#a0{}' dt 1 lw 9 notitle", i,
                      styles[i].colour.substr(1)));
    }
  }
}

void draw_base_and_rival(const Chart& chart, Picture picture, Items& items) {
  if (!chart.base_label.empty()) {
    items.push_back(base_data(chart) + " with lines lc rgb '#000000' dt 1 lw 1.4 title " +
                    plain(with_remark(chart.base_label, chart.base_remark), picture));
  }
  if (!chart.rival.points.empty()) {
    items.push_back("$rival0 using 1:2 with lines lc rgb '#000000' dt (14,6) lw 2.4 title " +
                    title_of(chart.rival, picture));
  }
}

void draw_curves(const Chart& chart, const std::vector<CurveStyle>& styles, Picture picture,
                 Items& items) {
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const CurveStyle& style = styles[i];
    const std::string look = fmt::format("lc rgb '{}' dt {} lw {} pt {} ps 1.3", style.colour,
                                         style.dash, style.width, style.point_type);
    items.push_back(fmt::format("$curve{} using 1:2 with lines lc rgb '{}' dt {} lw {} notitle", i,
                                style.colour, style.dash, style.width));
    items.push_back(fmt::format("$symbols{} using 1:2 with points lc rgb '{}' pt {} ps 1.3 notitle",
                                i, style.colour, style.point_type));
    items.push_back(fmt::format("keyentry with linespoints {} title {}", look,
                                title_of(chart.curves[i], picture)));
  }
}

void draw_marks(const Chart& chart, const std::vector<CurveStyle>& styles, Items& items) {
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    if (!chart.curves[i].marks.empty()) {
      items.push_back(
          fmt::format("$marks{} using 1:2 with points lc rgb '{}' pt 6 ps 2.6 lw 1.6 notitle", i,
                      styles[i].colour));
    }
  }
}

// What lies behind is drawn first.
Items drawn_items(const Chart& chart, const std::vector<CurveStyle>& styles, Picture picture) {
  Items items;
  draw_ribbons(chart, styles, items);
  draw_drop_lines(chart, styles, items);
  draw_base_and_rival(chart, picture, items);
  draw_curves(chart, styles, picture, items);
  draw_marks(chart, styles, items);
  return items;
}

// On a terminal a curve is a letter, a break-even an O.
Items typed_items(const Chart& chart, const std::vector<CurveStyle>& styles) {
  Items items;
  if (!chart.base_label.empty()) {
    items.push_back(base_data(chart) + " with points pt '-'");
  }
  if (!chart.rival.points.empty()) {
    items.emplace_back("$rival0 using 1:2 with points pt '='");
  }
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    items.push_back(fmt::format("$curve{} using 1:2 with points pt '{}'", i, styles[i].letter));
  }
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    if (!chart.curves[i].marks.empty()) {
      items.push_back(fmt::format("$marks{} using 1:2 with points pt 'O'", i));
    }
  }
  return items;
}

std::string limit_commands(const Chart& chart, Picture picture) {
  std::string text;
  for (const ChartLimit& limit : chart.limits) {
    text += fmt::format(
        "set arrow from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead lc rgb '#555555' dt (6,6)\n",
        limit.x);
    if (picture != Picture::terminal) {
      text +=
          fmt::format("set label {1} at {0:.6g}, graph 0.97 right offset -0.6,0 tc rgb '#555555'\n",
                      limit.x, plain(limit.label, picture));
    }
  }
  return text;
}

}  // namespace

double value_at(const std::vector<ChartPoint>& points, double x, bool logarithmic) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ChartPoint& a = points[i - 1];
    const ChartPoint& b = points[i];
    if (x <= b.x) {
      const double share = std::log(x / a.x) / std::log(b.x / a.x);
      return logarithmic && a.y > 0.0 && b.y > 0.0 ? a.y * std::pow(b.y / a.y, share)
                                                   : a.y + share * (b.y - a.y);
    }
  }
  return points.back().y;
}

std::string gnuplot_script(const Chart& chart, Picture picture, const std::string& output,
                           std::size_t columns) {
  const bool dumb = picture == Picture::terminal;
  const std::vector<CurveStyle> styles = curve_styles(chart.curves);
  std::string text = "set encoding utf8\n";
  text += "set terminal " + terminal(chart, picture, columns) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  if (!dumb) {
    text += title_command(chart, picture);
    text += "set xlabel " + plain(chart.x_label, picture) + " offset 0,0.3\n";  // off the legend
    text += "set ylabel " + plain(chart.y_label, picture) + "\n";
  }
  text += axis_commands('x', chart.x) + axis_commands('y', axis_of_values(chart));
  text += limit_commands(chart, picture);
  if (dumb) {
    text += "set key off\n";
  } else {
    text.append("set border 3\nset grid ytics ").append(grid_look);
    text += key_commands(chart, picture);
  }
  text += data_blocks(chart, styles, picture) + "\nplot ";
  const Items items = dumb ? typed_items(chart, styles) : drawn_items(chart, styles, picture);
  for (const std::string& item : items) {
    text += (&item == &items.front() ? "" : ", \\\n  ") + item;
  }
  return text + "\n";
}

}  // namespace payoff
