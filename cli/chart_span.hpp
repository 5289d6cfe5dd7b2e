// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/chart.hpp"

// What the axis of values spans. What is many times worse than all others would press them into one
// line, so it may be cut; but of every curve at least half of the points are drawn, of the best one
// and of base and rival all, and what is cut is told with its values.

namespace payoff {

struct CutCurve {
  std::string label;
  double value{};  // the farthest that is not drawn
};

struct ValueSpan {
  double low{};
  double high{};
  bool logarithmic{};
  std::vector<CutCurve> cut;
};

[[nodiscard]] ValueSpan shown_values(const Chart& chart);

// The axis of that, with room for the ribbons of speedups.
[[nodiscard]] ChartAxis axis_of_values(const Chart& chart);

// Of a picture: "The ribbon goes on up to 12.3."; empty where all of it is drawn, or there is none.
[[nodiscard]] std::string ribbon_note(const Chart& chart);

// "Not drawn above 700: signsgd (up to 1810), ..."; empty where all is drawn.
[[nodiscard]] std::string cut_note(const Chart& chart);

}  // namespace payoff
