// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chart.hpp"

// How each curve of a chart looks.

namespace payoff {

struct CurveStyle {
  std::string colour;  // "#0072b2"
  std::string_view dash;
  double width{};
  int point_type{};      // gnuplot's
  char letter{};         // instead, on a terminal
  std::size_t member{};  // of its family
  std::size_t members{};
};

// No two alike as long as there are looks, which is 28 curves.
[[nodiscard]] std::vector<CurveStyle> curve_styles(const std::vector<ChartCurve>& curves);

// The method of "powersgd:rank=4": what shares a hue where nothing else does.
[[nodiscard]] std::string family_of(std::string_view strategy);

// For what has nothing but a colour and a symbol: the hues without shades, one after the other.
inline constexpr std::size_t plain_hues = 7;
[[nodiscard]] std::string plain_hue(std::size_t number);

// For a terminal: the text in a colour, "#0072b2", as near as 256 colours come to it.
[[nodiscard]] std::string painted(std::string_view text, std::string_view colour);

}  // namespace payoff
