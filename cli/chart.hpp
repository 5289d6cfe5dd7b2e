// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Line charts through gnuplot. A chart becomes a script that carries its data, the same bytes for
// the same numbers; gnuplot turns the script into a picture. Colours are those of Okabe and Ito,
// told apart by people with any colour vision; what shares a family shares a colour and differs by
// its dashes.

namespace payoff {

struct ChartPoint {
  double x{};
  double y{};
};

struct ChartCurve {
  std::string label;   // "powersgd:rank=4"; what stands before `:` is the family
  std::string remark;  // beside the label: where it pays
  std::vector<ChartPoint> points;
  std::vector<ChartPoint> marks;  // where it crosses the base line
};

struct Chart {
  std::string title;
  std::string x_label;  // with the unit
  std::string y_label;
  std::string base_label;       // of the line y = 1
  std::vector<double> x_ticks;  // empty: gnuplot's own
  std::vector<ChartCurve> curves;
};

enum class Picture { png, svg, pdf, terminal };

// False when the name ends in nothing that is known.
[[nodiscard]] bool picture_of(const std::filesystem::path& file, Picture& picture);

// A gnuplot script that leaves the picture in `output`, or on stdout where that is empty; `columns`
// is the width of a terminal.
[[nodiscard]] std::string gnuplot_script(const Chart& chart, Picture picture,
                                         const std::string& output, std::size_t columns = 100);

// What gnuplot makes of the chart. Throws std::runtime_error when it is missing or refuses.
[[nodiscard]] std::string picture_bytes(const Chart& chart, Picture picture);

}  // namespace payoff
