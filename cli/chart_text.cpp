// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "profiles/source_map.hpp"

namespace payoff {
namespace {

std::size_t longest_legend(const Chart& chart) {
  std::size_t longest = 0;
  for (const ChartCurve& curve : chart.curves) {
    const std::size_t between = curve.remark.empty() ? 0 : 3;
    longest =
        std::max(longest, count_characters(curve.label) + between + count_characters(curve.remark));
  }
  return longest;
}

// Half the width of a picture holds a sample and so many letters.
std::size_t legend_columns(const Chart& chart) {
  constexpr std::size_t widest = 54;
  return longest_legend(chart) <= widest ? 2 : 1;
}

// What a curve does below the picture is not shown, so it is said.
std::vector<std::string> captions(const Chart& chart) {
  std::vector<std::string> lines = chart.captions;
  lines.insert(lines.end(), chart.notes.begin(), chart.notes.end());
  const bool from_zero = chart.values == ChartValues::from_zero;
  if (chart.values == ChartValues::positive) {
    return lines;
  }
  const double end = from_zero ? end_from_zero(chart) : slowest_shown;
  const auto leaves = [&](const ChartCurve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(), [&](const ChartPoint& point) {
      return from_zero ? point.y > end : point.y < end;
    });
  };
  const auto count = std::count_if(chart.curves.begin(), chart.curves.end(), leaves);
  if (count > 0) {
    lines.push_back(fmt::format("{} of {} curves go on {} {}, which is not drawn.", count,
                                chart.curves.size(), from_zero ? "above" : "below",
                                fmt::format("{:.3g}", end / chart.y_unit)));
  }
  return lines;
}

double largest(const std::vector<ChartPoint>& points) {
  double most = 0.0;
  for (const ChartPoint& point : points) {
    most = std::max(most, point.y);
  }
  return most;
}

bool is_control(char c) {
  constexpr unsigned char first_printed = 0x20;
  constexpr unsigned char del = 0x7f;
  const auto code = static_cast<unsigned char>(c);
  return code < first_printed || code == del;
}

// gnuplot's enhanced text takes these for markup; a terminal of characters takes none.
std::string without_markup(std::string_view text, Picture picture) {
  std::string result;
  for (const char c : text) {
    if (picture != Picture::terminal &&
        std::string_view("_^{}@&\\~").find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

}  // namespace

double end_from_zero(const Chart& chart) {
  constexpr double most_times = 2.5;
  const double own = std::max(largest(chart.base), largest(chart.rival.points));
  double high = own;
  for (const ChartCurve& curve : chart.curves) {
    high = std::max(high, largest(curve.points));
  }
  if (high <= 0.0) {
    return chart.y_unit;
  }
  return own > 0.0 && high > most_times * own ? most_times * own : high;
}

// Between single quotes gnuplot runs nothing and knows no escapes; only the end of a line is left
// that could end a text early.
std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += is_control(c) ? std::string(" ") : c == '\'' ? std::string("''") : std::string(1, c);
  }
  return result + "'";
}

// A comment ends with its line, unless a backslash is the last of it.
std::string gnuplot_comment(std::string_view text) {
  std::string result = "# ";
  for (const char c : text) {
    result += is_control(c) || c == '`' || c == '\\' ? ' ' : c;
  }
  return result + "\n";
}

std::string tick_label(std::string_view text, Picture picture) {
  std::string label;
  for (const char c : plain(text, picture)) {
    label += c == '%' ? std::string("%%") : std::string(1, c);
  }
  return label;
}

std::string plain(std::string_view text, Picture picture) {
  return gnuplot_string(without_markup(text, picture));
}

std::string terminal(const Chart& chart, Picture picture, std::size_t columns) {
  const bool tall = legend_columns(chart) == 1;
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         tall ? 1240 : 1000);
    case Picture::svg:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          tall ? 930 : 750);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{} font 'Sans,10' linewidth 1.2",
                         tall ? "15.5cm" : "12.5cm");
    case Picture::terminal:
      return fmt::format("dumb nofeed size {},{} noenhanced", columns,
                         std::clamp<std::size_t>(columns * 3 / 10, 16, 36));
  }
  return {};
}

std::string with_remark(const std::string& label, const std::string& remark) {
  return label + (remark.empty() ? "" : " · " + remark);
}

std::string title_of(const ChartCurve& curve, Picture picture) {
  return plain(with_remark(curve.label, curve.remark), picture);
}

std::string title_command(std::string_view title, const std::vector<std::string>& lines,
                          Picture picture) {
  std::string text = "set title " + plain(title, picture);
  if (picture != Picture::terminal) {
    for (const std::string& line : lines) {
      text += ".\"\\n\"." + gnuplot_string("{/*0.8 " + without_markup(line, picture) + "}");
    }
  }
  return text + "\n";
}

std::string title_command(const Chart& chart, Picture picture) {
  return title_command(chart.title, captions(chart), picture);
}

std::string axis_commands(char name, const ChartAxis& axis) {
  std::string text = fmt::format("set {}range [{:.6g}:{:.6g}]\n", name, axis.low, axis.high);
  text += axis.logarithmic ? fmt::format("set logscale {} 2\n", name) : "";
  text += fmt::format("set {}tics nomirror (", name);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const std::string label =
        axis.labels.empty() ? tick_text(axis.ticks[i] / axis.unit) : axis.labels[i];
    text += fmt::format("{}{} {:.10g}", i == 0 ? "" : ", ", gnuplot_string(label), axis.ticks[i]);
  }
  return text + ")\n";
}

// Two columns below the axis where they fit, else one. gnuplot takes texts for wider than they are,
// and the more so the longer they are. The extra height is room below the label of the axis.
std::string key_commands(const Chart& chart, Picture picture) {
  const std::size_t longest = longest_legend(chart);
  const std::size_t entries = chart.curves.size() + (chart.base_label.empty() ? 0 : 1) +
                              (chart.rival.points.empty() ? 0 : 1);
  const std::size_t columns = legend_columns(chart);
  const std::size_t surplus = picture == Picture::png ? longest / 7 : longest / 10;
  return fmt::format(
      "set key below vertical maxrows {} Left reverse samplen 2.6 width -{} height 1.5 font "
      "',15'\n",
      (entries + columns - 1) / columns, surplus > 2 ? surplus - 2 : 0);
}

}  // namespace payoff
