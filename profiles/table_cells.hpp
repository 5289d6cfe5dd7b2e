// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "profiles/source_map.hpp"

// The cells of a line of a table of a user's own, each with its place. No cell holds a comma or a
// quote; blanks around one, and the end of a line of DOS, are not its.

namespace payoff {

struct TableCell {
  std::string_view text;
  Span place;  // of one byte at least
};

[[nodiscard]] std::vector<TableCell> cells_of_line(std::string_view line, Span place);

// Nothing but blanks, or a remark, which begins with #.
[[nodiscard]] bool has_no_cells(std::string_view line);

}  // namespace payoff
