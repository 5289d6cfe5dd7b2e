// SPDX-License-Identifier: Apache-2.0
#include "cli/scatter_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"
#include "cli/counted.hpp"

namespace payoff {
namespace {

// gnuplot's numbers of symbols: filled ones, hollow ones and crosses in turn.
constexpr std::array<int, 10> group_symbols{7, 8, 2, 5, 12, 1, 9, 6, 3, 13};

// Sources that share a hue have symbols three apart, which are of different kinds; neighbours in
// the legend share neither. Shades of one hue are not told apart at half a page.
int symbol_of(std::size_t group) {
  return group_symbols[(group % plain_hues + 3 * (group / plain_hues)) % group_symbols.size()];
}

constexpr double drawn_factor = 1.25;  // of the lines beside the diagonal

struct Words {
  std::string title;
  std::string axis;
};

Words words_of(CaseKind kind) {
  switch (kind) {
    case CaseKind::collective:
      return {"Collectives", "time [s]"};
    case CaseKind::step:
      return {"Training steps", "time of a step [s]"};
    case CaseKind::compression:
      return {"Compression", "speedup over the uncompressed run"};
  }
  return {};
}

std::string terminal_of(Picture picture) {
  switch (picture) {
    case Picture::png:
      return "pngcairo size 1400,1000 font 'Sans,18' linewidth 1.4 background '#ffffff'";
    case Picture::pdf:
      return "pdfcairo size 17.5cm,12.5cm font 'Sans,10' linewidth 1.2";
    default:
      return "svg size 1050,750 font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced";
  }
}

// Whole powers of ten, or of two where less than two of ten would be seen.
std::string range_of(const Scatter& scatter) {
  double low = scatter.groups.front().points.front().x;
  double high = low;
  for (const ChartCurve& group : scatter.groups) {
    for (const ChartPoint& point : group.points) {
      low = std::min({low, point.x, point.y});
      high = std::max({high, point.x, point.y});
    }
  }
  const double base = high / low < 100 ? 2 : 10;
  const double first = std::pow(base, std::floor(std::log(low) / std::log(base)));
  const double last = std::pow(base, std::ceil(std::log(high) / std::log(base)));
  return fmt::format(
      "set logscale xy {0:.0f}\nset xrange [{1:.6g}:{2:.6g}]\nset yrange [{1:.6g}:{2:.6g}]\n", base,
      first, last);
}

}  // namespace

Scatter scatter_of(const std::vector<ValidationCase>& cases, CaseKind kind) {
  std::map<std::string, ChartCurve> groups;
  std::size_t count = 0;
  std::size_t judged = 0;
  for (const ValidationCase& c : cases) {
    if (c.kind == kind && c.scored()) {
      groups[c.source].points.push_back({*c.measured, *c.predicted});
      ++count;
      judged += c.half == Half::judge ? 1U : 0U;
    }
  }
  const Words words = words_of(kind);
  Scatter scatter;
  scatter.title = fmt::format("{}: predicted against measured{}", words.title,
                              judged == count ? ", nothing fitted to these" : "");
  scatter.captions = {fmt::format("{} cases of {}; lines: equal, and {} times either way", count,
                                  counted(groups.size(), "source"), drawn_factor)};
  scatter.x_label = "measured " + words.axis;
  scatter.y_label = "predicted " + words.axis;
  for (auto& [source, group] : groups) {
    group.label = source;
    scatter.groups.push_back(std::move(group));
  }
  return scatter;
}

std::string gnuplot_script(const Scatter& scatter, Picture picture, const std::string& output) {
  std::string text = "set encoding utf8\nset terminal " + terminal_of(picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(scatter.title, scatter.captions, picture) + range_of(scatter);
  text.append("set size square\nset border 3\nset grid ").append(grid_look);
  text +=
      "set xtics nomirror\nset ytics nomirror\nset format xy '%g'\nset key outside right top Left "
      "reverse\n";
  text += "set xlabel " + plain(scatter.x_label, picture) + "\n";
  text += "set ylabel " + plain(scatter.y_label, picture) + "\n";
  for (std::size_t i = 0; i < scatter.groups.size(); ++i) {
    text += fmt::format("$group{} << EOD\n", i);
    for (const ChartPoint& point : scatter.groups[i].points) {
      text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
    }
    text += "EOD\n";
  }
  text += fmt::format(
      "plot x with lines lc rgb '#000000' lw 1 notitle, \\\n"
      "  {0} * x with lines lc rgb '#555555' dt (6,6) lw 0.8 notitle, \\\n"
      "  x / {0} with lines lc rgb '#555555' dt (6,6) lw 0.8 notitle",
      drawn_factor);
  for (std::size_t i = 0; i < scatter.groups.size(); ++i) {
    text += fmt::format(
        ", \\\n  $group{} using 1:2 with points pt {} ps 1.4 lw 1.6 lc rgb '{}' title {}", i,
        symbol_of(i), plain_hue(i), plain(scatter.groups[i].label, picture));
  }
  return text + "\n";
}

}  // namespace payoff
