// SPDX-License-Identifier: Apache-2.0
#include "profiles/table_cells.hpp"

#include <algorithm>
#include <cstddef>

namespace payoff {
namespace {

constexpr std::string_view around_cells = " \t\r";

}  // namespace

std::vector<TableCell> cells_of_line(std::string_view line, Span place) {
  std::vector<TableCell> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::string_view between = line.substr(begin, end - begin);
    const std::size_t first = std::min(between.find_first_not_of(around_cells), between.size());
    const std::size_t last = between.find_last_not_of(around_cells);
    const std::string_view text =
        between.substr(first, last == std::string_view::npos ? 0 : last + 1 - first);
    cells.push_back(
        {text,
         {place.source, place.offset + begin + first, std::max<std::size_t>(text.size(), 1)}});
    begin = end + 1;
  }
  return cells;
}

bool has_no_cells(std::string_view line) {
  return line.find_first_not_of(around_cells) == std::string_view::npos || line.front() == '#';
}

}  // namespace payoff
