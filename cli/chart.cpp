// SPDX-License-Identifier: Apache-2.0
#include "cli/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace payoff {
namespace {

// Okabe and Ito 2008, black and yellow left out: black is the base line, yellow is too pale.
constexpr std::array<std::string_view, 7> colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#7F7F7F"};
constexpr std::array<std::string_view, 4> dashes = {"1", "(12,5)", "(4,4)", "(14,4,3,4)"};
constexpr std::array<int, 7> point_types = {7, 5, 9, 13, 11, 15, 3};

std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "''" : std::string(1, c);
  }
  return result + "'";
}

// gnuplot's enhanced text takes these for markup.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("_^{}@&\\~").find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string terminal(Picture picture, std::size_t columns) {
  switch (picture) {
    case Picture::png:
      return "pngcairo size 1400,800 font 'Sans,17' linewidth 2 background '#ffffff'";
    case Picture::svg:
      return "svg size 1050,600 font 'Sans,14' linewidth 1.5 background '#ffffff' enhanced";
    case Picture::pdf:
      return "pdfcairo size 17.5cm,10cm font 'Sans,10' linewidth 1.5";
    case Picture::terminal:
      return fmt::format("dumb size {},{}", columns, std::clamp<std::size_t>(columns / 3, 20, 40));
  }
  return {};
}

// One data block a curve, then one for its marks.
std::string data_blocks(const Chart& chart) {
  std::string text;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const ChartCurve& curve = chart.curves[i];
    text += fmt::format("\n# {}\n$curve{} << EOD\n", curve.label, i);
    for (const ChartPoint& point : curve.points) {
      text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
    }
    text += "EOD\n";
    if (!curve.marks.empty()) {
      text += fmt::format("$marks{} << EOD\n", i);
      for (const ChartPoint& mark : curve.marks) {
        text += fmt::format("{:.6g} {:.6g}\n", mark.x, mark.y);
      }
      text += "EOD\n";
    }
  }
  return text;
}

struct Look {
  std::string_view colour;
  std::string_view dash;
  int point_type{};
};

std::vector<Look> looks(const Chart& chart) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> families;  // number, members so far
  std::vector<Look> result;
  for (const ChartCurve& curve : chart.curves) {
    const std::string family = curve.label.substr(0, curve.label.find(':'));
    auto& [number, members] = families.try_emplace(family, families.size(), 0).first->second;
    result.push_back({colours[number % colours.size()], dashes[members % dashes.size()],
                      point_types[number % point_types.size()]});
    ++members;
  }
  return result;
}

std::string plot_command(const Chart& chart, Picture picture) {
  const bool dumb = picture == Picture::terminal;
  std::string text = fmt::format("\nplot 1 with lines lc rgb '#000000' dt 1 lw 1.2 title {}",
                                 gnuplot_string(plain(chart.base_label)));
  const std::vector<Look> look = looks(chart);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const ChartCurve& curve = chart.curves[i];
    const std::string title =
        plain(curve.label + (curve.remark.empty() ? "" : " · " + curve.remark));
    text += fmt::format(
        ", \\\n  $curve{} using 1:2 with {} lc rgb '{}' dt {} lw 1.6 pt {} ps 0.7 title {}", i,
        dumb ? "lines" : "linespoints", look[i].colour, look[i].dash, look[i].point_type,
        gnuplot_string(title));
    if (!curve.marks.empty()) {
      text += fmt::format(
          ", \\\n  $marks{} using 1:2 with points lc rgb '{}' pt 6 ps 2.2 lw 1.6 "
          "notitle",
          i, look[i].colour);
    }
  }
  return text + "\n";
}

std::string ticks(const Chart& chart) {
  std::string text = "set xtics nomirror (";
  for (const double x : chart.x_ticks) {
    text += fmt::format("{}'{:.6g}' {:.6g}", x == chart.x_ticks.front() ? "" : ", ", x, x);
  }
  return text + ")\n";
}

}  // namespace

bool picture_of(const std::filesystem::path& file, Picture& picture) {
  const std::string extension = file.extension().string();
  constexpr std::array<std::pair<std::string_view, Picture>, 4> known = {{{".png", Picture::png},
                                                                          {".svg", Picture::svg},
                                                                          {".pdf", Picture::pdf},
                                                                          {".gp", Picture::png}}};
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& entry) { return entry.first == extension; });
  if (found != known.end()) {
    picture = found->second;
  }
  return found != known.end();
}

std::string gnuplot_script(const Chart& chart, Picture picture, const std::string& output,
                           std::size_t columns) {
  std::string text = "set encoding utf8\n";
  text += "set terminal " + terminal(picture, columns) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += "set title " + gnuplot_string(plain(chart.title)) + "\n";
  text += "set xlabel " + gnuplot_string(plain(chart.x_label)) + "\n";
  text += "set ylabel " + gnuplot_string(plain(chart.y_label)) + "\n";
  text += "set logscale x 2\nset logscale y 2\nset format x '%g'\nset format y '%g'\n";
  text += chart.x_ticks.empty() ? "set xtics nomirror\n" : ticks(chart);
  text += "set ytics nomirror\nset border 3\nset grid ytics lc rgb '#dddddd' lw 0.6\n";
  text += picture == Picture::terminal ? "set key below left\n"
                                       : "set key outside right center Left reverse samplen 2.2\n";
  return text + data_blocks(chart) + plot_command(chart, picture);
}

}  // namespace payoff
