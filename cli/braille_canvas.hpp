// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// A drawing of dots on a terminal: the Braille patterns of Unicode (from U+2800) have eight in each
// character, two across and four up. A character has one colour, that of what was drawn last.

namespace payoff {

// In dots, from the lower left of the canvas; may lie outside of it.
struct CanvasPoint {
  double x{};
  double y{};
};

// So many columns of dots drawn, so many left out; all are drawn without gaps.
struct Dashes {
  int drawn{1};
  int left_out{};
};

class BrailleCanvas {
 public:
  static constexpr int dots_across = 2;  // of a character
  static constexpr int dots_up = 4;

  BrailleCanvas(std::size_t columns, std::size_t rows);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  // The last dots.
  [[nodiscard]] int right() const { return static_cast<int>(columns_) * dots_across - 1; }
  [[nodiscard]] int top() const { return static_cast<int>(rows_) * dots_up - 1; }

  // A line from point to point, without holes however steep; what lies outside is left out. `x`
  // must not fall. `ink` is any number but 0, for the colour.
  void line(const std::vector<CanvasPoint>& points, std::size_t ink, Dashes dashes = {});
  // One character in place of the dots there; `row` 0 is the lowest.
  void sign(std::size_t column, std::size_t row, std::string_view character, std::size_t ink);
  [[nodiscard]] bool has_sign(std::size_t column, std::size_t row) const;
  [[nodiscard]] bool has_dots(std::size_t column, std::size_t row) const;

  // The characters of a row, without the blanks behind them; `painted` puts the colour of an ink
  // around a text.
  using Painted = std::function<std::string(const std::string& text, std::size_t ink)>;
  [[nodiscard]] std::string row_text(std::size_t row, const Painted& painted) const;

 private:
  struct Cell {
    std::uint8_t dots{};
    std::size_t ink{};
    std::string sign{};
  };
  [[nodiscard]] const Cell& cell(std::size_t column, std::size_t row) const;
  void stroke(CanvasPoint from, CanvasPoint to, std::size_t ink, Dashes dashes);
  void fill(int x, double from, double to, std::size_t ink);

  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;  // row by row, from the lowest
};

}  // namespace payoff
