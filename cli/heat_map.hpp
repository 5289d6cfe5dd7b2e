// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/chart.hpp"
#include "cli/typed_form.hpp"

// A heat map over two logarithmic axes, with lines on it: a gnuplot script that carries its data,
// like those of line charts (cli/chart.hpp), in the colours of cli/colour_scale.hpp.

namespace payoff {

struct HeatLine {
  std::string label;
  std::string above;                           // what lies above it, in words
  std::vector<std::vector<ChartPoint>> paths;  // may be empty: the label then says so
  bool dashed{};
  char letter{};  // of what lies above, on a terminal
};

struct HeatCell {
  double value{};       // its colour
  bool marked{};        // with a small cross
  std::size_t above{};  // how many of the lines it lies above, the first ones
};

struct HeatMap {
  std::string title;
  std::vector<std::string> captions;  // lines below the title; on a terminal below the legend
  std::vector<std::string> picture_captions{};  // after these; of what a terminal does not show
  std::string x_label;
  std::string y_label;
  std::string value_label;
  ChartAxis x;
  ChartAxis y;
  std::vector<double> xs;  // ascending, at least two
  std::vector<double> ys;
  std::vector<std::optional<HeatCell>> cells;  // y by y; nullopt is drawn grey
  std::vector<HeatLine> lines;
  std::string mark_label;   // what a cross means
  std::string gap_label{};  // why there is no cell, in words; empty where all are there
};

// For a picture in a file.
[[nodiscard]] std::string gnuplot_script(const HeatMap& map, Picture picture,
                                         const std::string& output);

// A sign a cell: the letter of the last line that it lies above, in Unicode a shade; `.` above
// none, a cross where marked, nothing where there is no cell. Where there are more cells than so
// many columns and as many rows as go with them have room for, evenly chosen ones.
[[nodiscard]] std::string typed(const HeatMap& map, const TypedForm& form = {});

}  // namespace payoff
