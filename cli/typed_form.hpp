// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

// What a picture of characters may be made of.

namespace payoff {

struct TypedForm {
  std::size_t columns{100};  // no line is wider
  bool unicode{};            // else ASCII
  bool color{};              // escape sequences of a terminal's 256 colours
};

// What axes are drawn of.
struct BoxSigns {
  std::string_view vertical = "|";
  std::string_view horizontal = "-";
  std::string_view corner = "+";
  std::string_view tick = "+";  // on the horizontal axis
};
[[nodiscard]] inline BoxSigns box_signs(const TypedForm& form) {
  return form.unicode ? BoxSigns{"│", "─", "└", "┬"} : BoxSigns{};
}

// Rows of a line chart, its axis included: flat enough to be seen at once.
[[nodiscard]] inline std::size_t typed_rows(std::size_t columns) {
  return std::clamp<std::size_t>(columns * 3 / 10, 16, 36);
}

}  // namespace payoff
