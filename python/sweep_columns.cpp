// SPDX-License-Identifier: Apache-2.0
#include "python/sweep_columns.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/flat_line.hpp"

namespace payoff {
namespace {

constexpr std::string_view begin_of_row = "{\"job\":";

class ColumnReader : private FlatLine {
 public:
  SweepColumns read_all(std::string_view lines) {
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      const std::string_view line = lines.substr(0, end);
      lines.remove_prefix(std::min(end + 1, lines.size()));
      if (line.starts_with(begin_of_row)) {
        column_ = none;
        if (!read(line)) {
          throw std::runtime_error("a line of a sweep is no object of JSON");
        }
        ++result_.rows;
      }
    }
    for (SweepColumn& column : result_.columns) {
      column.cells.resize(result_.rows);
    }
    return std::move(result_);
  }

 private:
  void on_key(const std::string& name) override {
    // Lines have the same keys in the same order, nearly.
    if (++column_ >= result_.columns.size() || result_.columns[column_].name != name) {
      const auto [place, is_new] = places_.try_emplace(name, result_.columns.size());
      if (is_new) {
        result_.columns.push_back({name, {}});
      }
      column_ = place->second;
    }
    result_.columns[column_].cells.resize(result_.rows + 1);
  }
  void on_boolean(bool value) override { cell() = value; }
  void on_integer(std::int64_t value) override { cell() = value; }
  void on_number(double value) override { cell() = value; }
  void on_text(std::string& value) override {
    const auto [place, is_new] = texts_.try_emplace(value, result_.texts.size());
    if (is_new) {
      result_.texts.push_back(value);
    }
    cell() = SweepText{place->second};
  }

  SweepCell& cell() { return result_.columns[column_].cells.back(); }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);  // before the first column

  SweepColumns result_;
  std::size_t column_{};
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, std::size_t> texts_;
};

}  // namespace

SweepColumns sweep_columns(std::string_view lines) { return ColumnReader().read_all(lines); }

}  // namespace payoff
