// SPDX-License-Identifier: Apache-2.0
#include "cli/braille_canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace payoff {
namespace {

// The dots of a pattern as Unicode numbers them, each column from the lowest dot up.
constexpr std::array<std::array<std::uint8_t, BrailleCanvas::dots_up>, BrailleCanvas::dots_across>
    dot_bits = {{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};

// U+2800 and the dots, in UTF-8.
std::string pattern(std::uint8_t dots) {
  if (dots == 0) {
    return " ";
  }
  constexpr unsigned low_bits = 0x3f;
  constexpr unsigned goes_on = 0x80;
  return {'\xe2', static_cast<char>(0xa0U + (dots >> 6U)),
          static_cast<char>(goes_on | (dots & low_bits))};
}

}  // namespace

BrailleCanvas::BrailleCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

const BrailleCanvas::Cell& BrailleCanvas::cell(std::size_t column, std::size_t row) const {
  return cells_[row * columns_ + column];
}

bool BrailleCanvas::has_sign(std::size_t column, std::size_t row) const {
  return !cell(column, row).sign.empty();
}

bool BrailleCanvas::has_dots(std::size_t column, std::size_t row) const {
  return cell(column, row).dots != 0;
}

void BrailleCanvas::sign(std::size_t column, std::size_t row, std::string_view character,
                         std::size_t ink) {
  Cell& at = cells_[row * columns_ + column];
  at.sign = character;
  at.ink = ink;
}

void BrailleCanvas::line(const std::vector<CanvasPoint>& points, std::size_t ink, Dashes dashes) {
  if (!points.empty()) {
    stroke(points.front(), points.front(), ink, dashes);
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    stroke(points[i - 1], points[i], ink, dashes);
  }
}

// One column of dots after the other; between two of them the line climbs in the later one.
void BrailleCanvas::stroke(CanvasPoint from, CanvasPoint to, std::size_t ink, Dashes dashes) {
  const double last = std::min<double>(right(), std::round(to.x));
  double before = from.y;
  for (double x = std::max(0.0, std::round(from.x)); x <= last; ++x) {
    const double share = to.x > from.x ? std::clamp((x - from.x) / (to.x - from.x), 0.0, 1.0) : 1.0;
    const double y = from.y + share * (to.y - from.y);
    const int column = static_cast<int>(x);
    if (column % (dashes.drawn + dashes.left_out) < dashes.drawn) {
      fill(column, column == 0 && from.x < 0 ? y : before, y, ink);
    }
    before = y;
  }
}

void BrailleCanvas::fill(int x, double from, double to, std::size_t ink) {
  const auto on_canvas = [this](double y) {
    return static_cast<int>(std::clamp(std::round(y), -1.0, top() + 1.0));
  };
  const int begin = on_canvas(from);
  const int end = on_canvas(to);
  // The dot of `from` is there already, in the column before.
  const int first = begin < end ? begin + 1 : begin > end ? begin - 1 : begin;
  for (int y = std::min(first, end); y <= std::max(first, end); ++y) {
    if (y >= 0 && y <= top()) {
      const auto column = static_cast<std::size_t>(x / dots_across);
      Cell& at = cells_[static_cast<std::size_t>(y / dots_up) * columns_ + column];
      at.dots |= dot_bits[static_cast<std::size_t>(x % dots_across)]
                         [static_cast<std::size_t>(y % dots_up)];
      at.ink = ink;
    }
  }
}

std::string BrailleCanvas::row_text(std::size_t row, const Painted& painted) const {
  std::size_t end = columns_;
  while (end > 0 && !has_dots(end - 1, row) && !has_sign(end - 1, row)) {
    --end;
  }
  std::string text;
  for (std::size_t begin = 0; begin < end;) {
    const std::size_t ink = cell(begin, row).ink;
    std::string same;
    for (; begin < end && cell(begin, row).ink == ink; ++begin) {
      const Cell& at = cell(begin, row);
      same += at.sign.empty() ? pattern(at.dots) : at.sign;
    }
    text += ink == 0 ? same : painted(same, ink);
  }
  return text;
}

}  // namespace payoff
