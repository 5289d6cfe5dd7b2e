// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/units.hpp"

// Tables for people and for Markdown at once: columns aligned by characters, not bytes. CSV is the
// same rows without padding.

namespace payoff {

enum class Align { left, right, center };

struct Column {
  std::string header;
  Align align{Align::right};
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column.
  void add(std::vector<std::string> row);

  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One line of CSV (RFC 4180, but a line ends as everywhere here).
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

// The shortest text that reads back as the same number; for CSV and data files.
[[nodiscard]] std::string exact_number(double number);

// `digits` after the point, no exponent: for columns whose header has the unit.
[[nodiscard]] std::string fixed(double number, int digits);
// "12.3 %" of 0.123.
[[nodiscard]] std::string percent(double ratio);
// The beginning of a text: so many characters, however many bytes they take, or all of it.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t count);
// So many characters at most, "..." in place of what is cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);
// With four digits, without the unit.
[[nodiscard]] std::string milliseconds(Seconds time);
// Without an exponent, three digits: 0.0123, 1.23, 123, 1230.
[[nodiscard]] std::string significant(double number, int digits = 3);
// "412 ± 9.1": the number with three digits, what it may be off with two.
[[nodiscard]] std::string with_spread(double number, double spread);
// "14.7 (6.0 to 31.7)": three digits, more where the interval is narrower than its last one. What
// may be off by half of itself is not off by as much to both sides.
[[nodiscard]] std::string with_interval(double number, double low, double high,
                                        const std::string& unit = {});

}  // namespace payoff
