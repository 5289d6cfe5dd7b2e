// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Rows of the published tables under tests/validation/systems: `#` lines cite the source, the first
// other line names the columns. No quoting, no embedded commas.

namespace payoff::test {

class CsvRow {
 public:
  explicit CsvRow(std::map<std::string, std::string> cells) : cells_(std::move(cells)) {}

  [[nodiscard]] const std::string& text(const std::string& column) const {
    return cells_.at(column);
  }
  [[nodiscard]] double number(const std::string& column) const {
    return std::strtod(cells_.at(column).c_str(), nullptr);
  }

 private:
  std::map<std::string, std::string> cells_;
};

inline std::vector<std::string> split_commas(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

inline std::vector<CsvRow> read_csv(const std::string& path_in_tree) {
  std::ifstream file(std::string(PAYOFF_SOURCE_DIR) + "/" + path_in_tree);
  if (!file) {
    throw std::runtime_error("cannot open " + path_in_tree);
  }
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::vector<std::string> cells = split_commas(line);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      row[columns[i]] = i < cells.size() ? cells[i] : "";
    }
    rows.emplace_back(std::move(row));
  }
  return rows;
}

}  // namespace payoff::test
