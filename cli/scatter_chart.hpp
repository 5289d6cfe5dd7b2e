// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/chart.hpp"
#include "study/validate.hpp"

// Predicted against measured, a point a case, both axes logarithmic with one scale, a colour and a
// symbol for each source. A gnuplot script that carries its data, like those of line charts
// (cli/chart.hpp).

namespace payoff {

struct Scatter {
  std::string title;
  std::vector<std::string> captions;  // lines below the title
  std::string x_label;
  std::string y_label;
  std::vector<ChartCurve> groups;  // label and points; at least one point
};

// The scored cases of one kind, the groups by name. Without a scored case there are none.
[[nodiscard]] Scatter scatter_of(const std::vector<ValidationCase>& cases, CaseKind kind);

[[nodiscard]] std::string gnuplot_script(const Scatter& scatter, Picture picture,
                                         const std::string& output);

}  // namespace payoff
