// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/chart.hpp"
#include "cli/typed_form.hpp"

// Where the time of steps goes: a bar for each step, cut into its parts in the order in which they
// are listed, so that the bar is as long as the step. A gnuplot script that carries its data, like
// those of line charts (cli/chart.hpp).

namespace payoff {

struct StepPart {
  std::string label;
  std::string colour;  // "#0072b2"
  char letter{};       // on a terminal
};

struct StepBar {
  std::string label;
  std::vector<double> times;  // one for each part, in seconds
  std::string remark;         // behind the bar
};

struct StepBars {
  std::string title;
  std::vector<std::string> captions;  // lines below the title; on a terminal below the legend
  std::vector<StepPart> parts;
  std::vector<StepBar> bars;  // at least one, with a part that takes time; the first on top
};

// For a picture in a file.
[[nodiscard]] std::string gnuplot_script(const StepBars& steps, Picture picture,
                                         const std::string& output);

// A part is as many letters as it is long.
[[nodiscard]] std::string typed(const StepBars& steps, const TypedForm& form = {});

}  // namespace payoff
