// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/csv.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/yaml_fields.hpp"

namespace payoff {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t start = 0;
  for (std::size_t comma = line.find(','); comma != std::string::npos;
       comma = line.find(',', start)) {
    cells.push_back(line.substr(start, comma - start));
    start = comma + 1;
  }
  cells.push_back(line.substr(start));
  return cells;
}

}  // namespace

bool CsvTable::has(std::string_view column) const {
  return std::ranges::find(names_, column) != names_.end();
}

const std::string& CsvTable::text(std::size_t row, std::string_view column) const {
  static const std::string nothing;
  const auto found = std::ranges::find(names_, column);
  return found == names_.end() ? nothing
                               : rows_[row][static_cast<std::size_t>(found - names_.begin())];
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column) const {
  return import_detail::plain_number(text(row, column));
}

CsvTable parse_csv(const std::string& content, const std::string& file, Findings& findings) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  std::istringstream stream(content);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    std::vector<std::string> cells = cells_of(line);
    if (names.empty()) {
      names = std::move(cells);
    } else if (cells.size() == names.size()) {
      rows.push_back(std::move(cells));
    } else {
      findings.push_back({file, number, 1, "",
                          fmt::format("{} cells under {} names", cells.size(), names.size()),
                          Effect::rejected});
    }
  }
  return {std::move(names), std::move(rows)};
}

CsvTable read_csv(const std::filesystem::path& path, Findings& findings) {
  return parse_csv(import_detail::read_file(path, findings).value_or(""), path.string(), findings);
}

}  // namespace payoff
