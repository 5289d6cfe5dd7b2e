// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/chart.hpp"

// From one amount to another by steps that add up: each bar begins where the one above it ended. A
// gnuplot script that carries its data, like those of line charts (cli/chart.hpp).

namespace payoff {

struct BridgeBar {
  std::string label;
  double from{};
  double to{};
  std::string remark;  // beside the bar: what it adds
  bool is_total{};     // an amount, not a change
};

struct Bridge {
  std::string title;
  std::vector<std::string> captions;  // lines below the title
  std::string x_label;
  std::vector<BridgeBar> bars;  // at least one above zero; the first on top
};

[[nodiscard]] std::string gnuplot_script(const Bridge& bridge, Picture picture,
                                         const std::string& output);

}  // namespace payoff
