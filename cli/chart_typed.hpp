// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chart.hpp"

// Pictures of characters, no line of which is wider than the terminal. gnuplot draws what lies
// between the axes; title, labels and legend are lines of text, since gnuplot gives a title one
// line whatever its length, and lets a long legend run into the label of the axis.

namespace payoff {

// The chart in so many columns. Throws std::runtime_error when gnuplot is missing or refuses.
[[nodiscard]] std::string typed(const Chart& chart, std::size_t columns = 100);

// The text in lines of at most `columns`, each with its end of line, broken between words, and
// within one only where it alone is longer. Lines after the first begin with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t indent = 0);

struct TypedTick {
  std::size_t column{};  // from 0
  std::string label;
};

// Below an axis of `width` columns: a line with a + at each tick, and the labels that have room,
// each beginning at its tick, the last one ending there. The first and the last are always there.
// Both lines begin with the text that is given for them.
[[nodiscard]] std::string typed_axis(const std::vector<TypedTick>& ticks, std::size_t width,
                                     const std::string& before_line,
                                     const std::string& before_labels);

}  // namespace payoff
