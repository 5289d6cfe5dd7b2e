// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chart.hpp"
#include "cli/typed_form.hpp"

// Pictures of characters, no line of which is wider than the terminal. What lies between the axes
// is drawn of Braille dots (cli/chart_braille.hpp), or in ASCII of letters by gnuplot; title,
// labels and legend are lines of text, since gnuplot gives a title one line whatever its length,
// and lets a long legend run into the label of the axis.

namespace payoff {

// In ASCII throws std::runtime_error when gnuplot is missing or refuses.
[[nodiscard]] std::string typed(const Chart& chart, const TypedForm& form = {});

// The text in lines of at most `columns`, each with its end of line, broken between words, and
// within one only where it alone is longer. Lines after the first begin with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t indent = 0);

struct TypedTick {
  std::size_t column{};  // from 0
  std::string label;
};

// Below an axis of `width` columns: a line with a tick now and then, and the labels that have room,
// each beginning at its tick, the last one ending there. The first and the last are always there.
// Both lines begin with `before`, and then the corner of both axes or a blank.
[[nodiscard]] std::string typed_axis(const std::vector<TypedTick>& ticks, std::size_t width,
                                     const std::string& before, const TypedForm& form);

}  // namespace payoff
