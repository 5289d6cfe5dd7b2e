// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/chart.hpp"
#include "cli/typed_form.hpp"

// A tornado: how far one number moves when each thing it hangs on is off alone, the widest
// influence on top. A gnuplot script that carries its data, like those of line charts
// (cli/chart.hpp).

namespace payoff {

struct TornadoBar {
  std::string label;
  double low{};
  double high{};
};

struct Tornado {
  std::string title;
  std::vector<std::string> captions;  // lines below the title; on a terminal below the axis
  std::string x_label;
  double centre{};               // where nothing is off
  std::vector<TornadoBar> bars;  // at least one; the first on top
};

// For a picture in a file.
[[nodiscard]] std::string gnuplot_script(const Tornado& tornado, Picture picture,
                                         const std::string& output);

// < where a bar's `low` is, > where its `high` is, | at the centre.
[[nodiscard]] std::string typed(const Tornado& tornado, const TypedForm& form = {});

}  // namespace payoff
