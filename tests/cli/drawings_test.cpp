// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "cli/colour_scale.hpp"
#include "cli/heat_map.hpp"
#include "cli/step_bars.hpp"
#include "profiles/source_map.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

namespace {

// IEC 61966-2-1 and CIE 15: lightness of what a screen shows, written apart from the program's.
double lightness(const std::array<int, 3>& rgb) {
  const auto light = [](int value) {
    const double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double y =
      0.2126729 * light(rgb[0]) + 0.7151522 * light(rgb[1]) + 0.0721750 * light(rgb[2]);
  return y > 0.008856 ? 116.0 * std::cbrt(y) - 16.0 : 903.3 * y;
}

HeatMap two_by_two() {
  HeatMap map;
  map.title = "title";
  map.x = {1, 2, true, {1, 2}};
  map.y = {1, 2, true, {1, 2}};
  map.xs = {1, 2};
  map.ys = {1, 2};
  map.cells = {HeatCell{0.5, false, 0}, HeatCell{1.5, false, 1}, std::nullopt,
               HeatCell{2, true, 2}};
  map.lines = {{"even", "faster", {{{1.5, 1}, {1.5, 2}}}, false, '+'},
               {"even with remedy", "faster than all", {}, true, '#'}};
  map.mark_label = "does not fit";
  return map;
}

StepBars two_steps() {
  return {"title",
          {},
          {{"work", "#0072b2", 'w'}, {"wait", "#d55e00", '.'}},
          {{"one", {0.1, 0.1}, "200 ms"}, {"two", {0.1, 0.0}, "100 ms"}}};
}

std::vector<std::size_t> lengths_of(const std::string& text) {
  std::vector<std::size_t> lengths;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    lengths.push_back(count_characters(line));
  }
  return lengths;
}

}  // namespace

TEST_CASE("equal steps of the scale of colours are equal steps of lightness, all within sRGB") {
  for (int i = 0; i <= 32; ++i) {
    const Lab colour = colour_on_scale(i / 32.0);
    // Rounded to 8 bits a colour is half a unit of lightness off at most, unless it was cut off.
    CHECK_THAT(lightness(to_srgb(colour)), WithinAbs(colour.lightness, 0.5));
    CHECK_THAT(colour.lightness, WithinAbs(24.0 + 68.0 * i / 32.0, 1e-9));
  }
}

TEST_CASE("white, black and mid grey are where CIE and sRGB have them") {
  CHECK(to_srgb({100, 0, 0}) == std::array<int, 3>{255, 255, 255});
  CHECK(to_srgb({0, 0, 0}) == std::array<int, 3>{0, 0, 0});
  CHECK(to_srgb({53.585, 0, 0}) == std::array<int, 3>{128, 128, 128});
}

TEST_CASE("a heat map carries its cells, half-way to their neighbours, and its lines") {
  const std::string script = gnuplot_script(two_by_two(), Picture::svg, "x.svg");
  CHECK_THAT(script, ContainsSubstring("$cells << EOD\n1 1 1 1.41421 1 1.41421 0.5\n"));
  CHECK_THAT(script, ContainsSubstring("$crosses << EOD\n2 2\nEOD\n"));
  CHECK_THAT(script, ContainsSubstring("$line0 << EOD\n1.5 1\n1.5 2\n\nEOD\n"));
  CHECK_THAT(script, !ContainsSubstring("$line1 << EOD"));
  CHECK_THAT(script, ContainsSubstring("set palette defined (0 '#0b308c'"));
}

TEST_CASE("no white edge of one line covers another line") {
  HeatMap map = two_by_two();
  map.lines[1].paths = map.lines[0].paths;
  const std::string script = gnuplot_script(map, Picture::svg, "x.svg");
  CHECK(script.rfind("lc rgb '#ffffff' lw 5.5") < script.find("lc rgb '#000000' dt"));
}

TEST_CASE("numbers beside a map of characters are never powers of ten") {
  HeatMap map = two_by_two();
  map.xs = {0.5, 1048576};
  map.ys = {2.5, 1024};
  CHECK_THAT(typed(map), ContainsSubstring("1024 | x\n") && ContainsSubstring(" 2.5 |.+\n") &&
                             ContainsSubstring("1048576\n") && !ContainsSubstring("e+"));
}

TEST_CASE("a heat map in characters has a letter a cell, the largest y on top") {
  CHECK_THAT(typed(two_by_two()), ContainsSubstring("2 | x\n1 |.+\n"));
  CHECK_THAT(typed(two_by_two()), ContainsSubstring("+: faster\n#: faster than all\nx: does not"));
}

TEST_CASE("a map of more results than a terminal has room for is thinned, ends and labels kept") {
  HeatMap map = two_by_two();
  map.cells.clear();
  map.xs.clear();
  map.ys.clear();
  for (int i = 1; i <= 400; ++i) {
    map.xs.push_back(i);
  }
  for (int i = 1; i <= 100; ++i) {
    map.ys.push_back(i);
  }
  // Faster to the right of x = 200, without a mark.
  for (std::size_t i = 0; i < 400 * 100; ++i) {
    map.cells.emplace_back(HeatCell{1, false, i % 400 < 200 ? 0U : 1U});
  }
  for (const std::size_t columns : {40U, 80U, 132U}) {
    const std::string text = typed(map, {columns});
    CAPTURE(columns, text);
    for (const std::size_t length : lengths_of(text)) {
      CHECK(length <= columns);
    }
    CHECK(lengths_of(text).size() <= 45 + 8);  // of the map and around it
    CHECK_THAT(text, ContainsSubstring("\n100 |..") && ContainsSubstring("\n  1 |..") &&
                         ContainsSubstring("++\n"));
    // "nnn |" takes five columns; half of the others are slower.
    const std::string row = text.substr(text.find("100 |") + 5, columns - 5);
    const auto slower = static_cast<double>(std::count(row.begin(), row.end(), '.'));
    CHECK_THAT(slower, WithinAbs(static_cast<double>(columns - 5) / 2.0, 1.0));
    CHECK_THAT(text, ContainsSubstring(std::to_string(columns - 5) + " of 400"));
  }
  // Ticks stand below the column of their value: at every tenth of 75.
  const std::string wide = typed(map, {80});
  const std::string axis = wide.substr(wide.find(" +") + 2, 75);
  CHECK(axis.substr(0, 11) == "+---------+");
  CHECK_THAT(wide, ContainsSubstring(" 1         55 "));  // 1 + 10 x 399 / 74 = 54.9
}

TEST_CASE("bars of characters fit a narrow terminal: a long label stands above its bar") {
  StepBars steps = two_steps();
  steps.bars[0].label = "powersgd:rank=4,placement=side_stream";
  const std::string text = typed(steps, {40});
  for (const std::size_t length : lengths_of(text)) {
    CHECK(length <= 40);
  }
  CHECK_THAT(text, ContainsSubstring("powersgd:rank=4,placement=side_stream\n |www"));
}

TEST_CASE("a bar begins where the one before it ends, and the first one is on top") {
  const std::string script = gnuplot_script(two_steps(), Picture::svg, "x.svg");
  CHECK_THAT(script, ContainsSubstring("$part0 << EOD\n0 100 2\n0 100 1\nEOD\n"));
  CHECK_THAT(script, ContainsSubstring("$part1 << EOD\n100 200 2\n100 100 1\nEOD\n"));
  CHECK_THAT(script, ContainsSubstring("time of a step [ms]"));
  CHECK_THAT(typed(two_steps(), {43}),
             ContainsSubstring(
                 "one |wwwwwwwwwwwwwww............... 200 ms\ntwo |wwwwwwwwwwwwwww 100 ms\n"));
}

TEST_CASE("long names of strategies are broken, and title and legend stay on the picture") {
  StepBars steps = two_steps();
  // 57 letters, as of examples/13: 31 have room in 0.35 of the width at 0.0103 a letter.
  steps.bars[0].label = "flash_communication:bits=4,traffic=ep_dispatch+ep_combine";
  const std::string script = gnuplot_script(steps, Picture::png, "x.png");
  CHECK_THAT(script, ContainsSubstring("('flash\\_communication:bits=4,'.\"\\n\"."
                                       "'traffic=ep\\_dispatch+ep\\_combine' 2, 'two' 1)"));
  // 0.025 + 30 x 0.0103 to the left; the centre of what is left until 0.98 is 0.657.
  CHECK_THAT(script, ContainsSubstring("set lmargin at screen 0.3340\n") &&
                         ContainsSubstring("set title 'title' offset screen -0.1570,0\n") &&
                         ContainsSubstring("set key at screen 0.5,"));
  steps.bars[0].label = std::string(67, 'x') + "\xc3\xa4";
  CHECK_THAT(gnuplot_script(steps, Picture::png, "x.png"),
             ContainsSubstring("'" + std::string(31, 'x') + "'.\"\\n\".'" + std::string(31, 'x') +
                               "'.\"\\n\".'xxxxx\xc3\xa4' 2"));
}

TEST_CASE("the remark behind the longest bar has room before the edge of the picture") {
  // 6 letters: 0.015 + 6 x 0.0075 of the width; the axis has 0.98 - (0.025 + 3 x 0.0103) of it,
  // and the bar of 200 ms the rest: 200 x 0.9241 / (0.9241 - 0.06).
  CHECK_THAT(gnuplot_script(two_steps(), Picture::png, "x.png"),
             ContainsSubstring("set xrange [0:213.887]\n"));
}
