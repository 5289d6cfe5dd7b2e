// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/braille_canvas.hpp"
#include "cli/chart_style.hpp"
#include "cli/chart_typed.hpp"
#include "cli/heat_map.hpp"
#include "profiles/source_map.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::lines_of;

// Unicode's Braille patterns: U+2800 and a bit for each dot, of the left column from the top 1, 2,
// 4 and 0x40, of the right one 8, 0x10, 0x20 and 0x80.

namespace {

std::string row(const BrailleCanvas& canvas, std::size_t number) {
  return canvas.row_text(number, [](const std::string& text, std::size_t ink) {
    return "<" + std::to_string(ink) + text + ">";
  });
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Doublings over doublings: a straight line from corner to corner of what the axes span.
Chart diagonal() {
  Chart chart;
  chart.title = "title";
  chart.x_label = "GPUs";
  chart.y_label = "speedup";
  chart.x = span_axis(1, 64, doublings(1, 64));
  chart.values = ChartValues::positive;
  ChartCurve curve;
  curve.label = "powersgd:rank=4";
  curve.remark = "pays from 12 GPUs";
  for (const double x : chart.x.ticks) {
    curve.points.push_back({x, x});
  }
  curve.marks = {{8, 8}};
  chart.curves = {curve};
  return chart;
}

std::string without_escapes(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      result += text[at];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a line of dots goes through the dots that it should") {
  SECTION("flat, along the lowest: 0x40 + 0x80 is U+28C0") {
    BrailleCanvas canvas(3, 1);
    canvas.line({{0, 0}, {5, 0}}, 7);
    CHECK(row(canvas, 0) == "<7⣀⣀⣀>");
  }
  SECTION("diagonal: 0x40 + 0x20 is U+2860, 0x02 + 0x08 is U+280A") {
    BrailleCanvas canvas(2, 1);
    canvas.line({{0, 0}, {3, 3}}, 1);
    CHECK(row(canvas, 0) == "<1⡠⠊>");
  }
  SECTION("steep, without a hole: the climb is in the second column, U+2878 below U+28B8") {
    BrailleCanvas canvas(1, 2);
    canvas.line({{0, 0}, {1, 7}}, 1);
    CHECK(row(canvas, 0) == "<1⡸>");
    CHECK(row(canvas, 1) == "<1⢸>");
    BrailleCanvas down(1, 2);
    down.line({{0, 7}, {1, 0}}, 1);
    CHECK(row(down, 0) == "<1⢸>");
    CHECK(row(down, 1) == "<1⢱>");  // 1, then 0x10 + 0x20 + 0x80
  }
  SECTION("upright: a point above a point") {
    BrailleCanvas canvas(1, 1);
    canvas.line({{0, 0}, {0, 3}}, 1);
    CHECK(row(canvas, 0) == "<1⡇>");  // 1 + 2 + 4 + 0x40
  }
  SECTION("a single point is a dot") {
    BrailleCanvas canvas(1, 1);
    canvas.line({{1, 3}}, 1);
    CHECK(row(canvas, 0) == "<1⠈>");
  }
}

TEST_CASE("what lies outside of a canvas is left out, and the slope inside stays") {
  BrailleCanvas canvas(2, 1);
  canvas.line({{-10, -10}, {20, 20}}, 1);
  CHECK(row(canvas, 0) == "<1⡠⠊>");
  BrailleCanvas above(2, 1);
  above.line({{0, 1e9}, {3, 1e9}}, 1);
  above.line({{0, -1e9}, {3, -1e9}}, 1);
  above.line({{50, 0}, {60, 3}}, 1);
  CHECK(row(above, 0).empty());
}

TEST_CASE("dashes leave columns of dots out, signs stand for dots, and the last ink has the cell") {
  BrailleCanvas canvas(4, 1);
  canvas.line({{0, 0}, {7, 0}}, 1, {2, 2});
  CHECK(row(canvas, 0) == "<1⣀> <1⣀>");
  canvas.line({{0, 3}, {1, 3}}, 2);  // over the first of these: U+28C9
  canvas.sign(2, 0, "a", 3);
  CHECK(row(canvas, 0) == "<2⣉> <3a>");
}

TEST_CASE("a chart of dots fits its terminal, with axes, numbers, letters and break-evens") {
  for (const std::size_t columns : {40U, 80U, 160U}) {
    const std::string text = typed(diagonal(), {columns, true, false});
    CAPTURE(columns, text);
    const std::vector<std::string> lines = lines_of(text);
    for (const std::string& line : lines) {
      CHECK(count_characters(line) <= columns);
    }
    CHECK(lines[0] == "title");
    CHECK(lines[1] == "speedup");
    CHECK(count_of(text, "┤") >= 3);
    CHECK(count_of(text, "┬") == 7);  // 1, 2, 4, ... 64
    CHECK(count_of(text, "○") == 1);
    CHECK_THAT(text, ContainsSubstring("\na powersgd:rank=4 · pays from 12 GPUs\n"));
    const auto axis = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("└") != std::string::npos;
    });
    REQUIRE(axis + 2 < lines.end());
    CHECK(count_characters(*axis) > columns - 5);  // the terminal is used
    const std::size_t first_tick = count_characters(axis->substr(0, axis->find("┬")));
    CHECK((axis + 1)->find_first_not_of(' ') == first_tick);       // "1" below it
    CHECK((axis + 2)->find_first_not_of(' ') == columns / 2 - 2);  // "GPUs" in the middle
    // From corner to corner, but for the room at the ends: 3 % of what spans 64-fold.
    CHECK(count_characters(lines[2]) + 3 >= count_characters(*axis));
    const std::string& lowest = *(axis - 1);
    const std::size_t line = std::min(lowest.find("│"), lowest.find("┤")) + 3;  // of three bytes
    CHECK(lowest.find_first_not_of(' ', line) <= line + 3);
  }
}

TEST_CASE("the same chart is the same bytes, and colours add nothing but colour") {
  const std::string plain = typed(diagonal(), {80, true, false});
  CHECK(plain == typed(diagonal(), {80, true, false}));
  CHECK(plain.find('\x1b') == std::string::npos);
  const std::string coloured = typed(diagonal(), {80, true, true});
  CHECK(coloured != plain);
  CHECK(without_escapes(coloured) == plain);
}

TEST_CASE("a colour is the nearest of a terminal's 256") {
  // The cube's levels are 0, 95, 135, 175, 215 and 255: 0x00 0x72 0xb2 are the first, second and
  // fourth of them, so that the code is 16 + 36 x 0 + 6 x 1 + 3.
  CHECK(painted("x", "#0072b2") == "\x1b[38;5;25mx\x1b[0m");
  CHECK(painted("x", "#ffffff") == "\x1b[38;5;231mx\x1b[0m");
}

TEST_CASE("every line of a chart of dots has its letter, also where they lie on one another") {
  Chart chart = diagonal();
  const ChartCurve curve = chart.curves.front();
  for (int i = 0; i < 5; ++i) {
    chart.curves.push_back(curve);
  }
  chart.curves[2].points = {{1, 1}, {2, 2}};  // a short one
  chart.curves[2].marks.clear();
  chart.base_label = "uncompressed";
  chart.rival = curve;
  const std::string text = typed(chart, {80, true, false});
  const std::string picture = text.substr(0, text.find("└"));
  CAPTURE(text);
  for (const char* sign : {"a", "b", "c", "d", "e", "f", "─", "═"}) {
    CHECK_THAT(picture.substr(picture.find('\n', 8)), ContainsSubstring(sign));
  }
}

TEST_CASE("break-evens leave a line one letter, where there is any place") {
  Chart chart = diagonal();
  chart.curves[0].marks.clear();
  for (double x = 1.0; x < 57.0; x *= 1.01) {  // all but the last columns
    chart.curves[0].marks.push_back({x, x});
  }
  const std::string text = typed(chart, {80, true, false});
  const std::string picture = text.substr(0, text.find("└"));
  CAPTURE(text);
  CHECK_THAT(picture.substr(picture.find('\n', 8)), ContainsSubstring("a"));
}

TEST_CASE("in ASCII pictures of characters have no other letters") {
  Chart chart = diagonal();
  chart.limits = {{20, "a limit"}};
  const std::string text = typed(chart, {80, false, false});
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
  CHECK_THAT(text, ContainsSubstring("O") && ContainsSubstring("\n| a limit\n"));
}
