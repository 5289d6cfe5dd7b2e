// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/chart_axis.hpp"

// Line charts through gnuplot. A chart becomes a script that carries its data, the same bytes for
// the same numbers; gnuplot turns the script into a picture. Colours are those of Okabe and Ito,
// told apart by people with any colour vision. What shares a family shares a hue and differs in
// shade, dashes and symbol, the later ones drawn thinner over the earlier, so that curves that lie
// on one another are all seen.

namespace payoff {

struct ChartPoint {
  double x{};
  double y{};
};

struct ChartBandPoint {
  double x{};
  double low{};
  double high{};
};

struct ChartCurve {
  std::string label;   // "powersgd:rank=4"; what stands before `:` is the family
  std::string remark;  // beside the label: where it pays
  std::vector<ChartPoint> points;
  std::vector<ChartPoint> marks;     // points of it next to the rival; a line drops from each
  std::vector<ChartBandPoint> band;  // drawn as a ribbon behind the curves; may be empty
  std::string family{};              // what shares a hue, all of it; empty: told by the label
  // Numbers of points: between the one before and this one it crosses the rival, nobody knows
  // where. Drawn as a wide pale line from the one to the other.
  std::vector<std::size_t> crossings{};
};

// What the axis of values spans (cli/chart_span.hpp).
enum class ChartValues {
  speedups,   // logarithmic; 1 is among them
  positive,   // logarithmic
  from_zero,  // linear, unless small values would not be seen
};

// A value of x beyond which something else holds.
struct ChartLimit {
  double x{};
  std::string label;
};

struct Chart {
  std::string title;
  std::vector<std::string> captions;  // lines below the title; on a terminal below the legend
  std::vector<std::string> picture_captions{};  // after these; of what a terminal does not show
  std::vector<std::string> notes;               // what the chart does not show, and why
  std::string x_label;                          // with the unit
  std::string y_label;
  ChartAxis x;
  ChartValues values{};
  double y_unit{1};        // in which values are written
  std::string base_label;  // of the line y = 1, or of another one, in black; empty: there is none
  std::string base_remark{};     // beside it in the legend
  std::vector<ChartPoint> base;  // of that; empty: y = 1
  ChartCurve rival;              // in black; without points there is none
  std::vector<ChartCurve> curves;
  std::vector<ChartLimit> limits;
  bool less_is_better{};     // of values from zero: what is far above base and rival may be cut
  bool symbols_at_points{};  // not at ticks: of what was found at these points alone
};

enum class Picture { png, svg, pdf, terminal };

// False when the name ends in nothing that is known.
[[nodiscard]] bool picture_of(const std::filesystem::path& file, Picture& picture);

// A gnuplot script that leaves the picture in `output`, or on stdout where that is empty; `columns`
// is the width of a terminal, on which it draws the axes alone (cli/chart_typed.hpp has the rest).
[[nodiscard]] std::string gnuplot_script(const Chart& chart, Picture picture,
                                         const std::string& output, std::size_t columns = 100);

// What gnuplot makes of the chart. Throws std::runtime_error when it is missing or refuses.
[[nodiscard]] std::string picture_bytes(const Chart& chart, Picture picture);
// Of any script, given the file that it shall leave the picture in.
[[nodiscard]] std::string drawn(const std::function<std::string(const std::string&)>& script);

// On the drawn line between the points next to `x`, which lies between the first and the last;
// straight in the logarithm of x, and of y where both ends have one and the axis is logarithmic.
[[nodiscard]] double value_at(const std::vector<ChartPoint>& points, double x,
                              bool logarithmic = true);

}  // namespace payoff
