// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/import/finding.hpp"

// Small tables of cited figures: lines that begin with # are remarks, then one line of names, then
// rows of as many cells; cells hold no comma, quote or line break. An empty cell means: not stated.

namespace payoff {

class CsvTable {
 public:
  CsvTable(std::vector<std::string> names, std::vector<std::vector<std::string>> rows)
      : names_(std::move(names)), rows_(std::move(rows)) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool has(std::string_view column) const;
  // The cell; "" for an empty cell and for a column that does not exist.
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view column) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

// Rows with another number of cells than names are left out with a finding.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& path, Findings& findings);
[[nodiscard]] CsvTable parse_csv(const std::string& content, const std::string& file,
                                 Findings& findings);

}  // namespace payoff
