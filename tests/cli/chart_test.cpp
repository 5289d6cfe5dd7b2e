// SPDX-License-Identifier: Apache-2.0
#include "cli/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/chart_span.hpp"
#include "cli/chart_style.hpp"
#include "cli/chart_typed.hpp"
#include "cli/crossings.hpp"
#include "profiles/source_map.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

ChartCurve line(std::string label, double from, double to) {
  return {std::move(label), {}, {{4, from}, {96, to}}, {}, {}};
}

Chart two_curves() {
  Chart chart;
  chart.x = span_axis(4, 96, doublings(4, 96));
  chart.base_label = "uncompressed";
  chart.curves = {line("powersgd:rank=4", 0.95, 1.05), line("fp8", 1.0, 1.02)};
  return chart;
}

}  // namespace

TEST_CASE("speedups near one get a linear axis with ticks in between") {
  const ChartAxis axis = value_axis(0.93, 1.06);
  CHECK_FALSE(axis.logarithmic);
  REQUIRE(axis.ticks.size() >= 4);
  CHECK(axis.low <= 0.93);
  CHECK(axis.high >= 1.06);
  CHECK(axis.high - axis.low < 0.25);
  CHECK(std::any_of(axis.ticks.begin(), axis.ticks.end(),
                    [](double tick) { return std::abs(tick - 1.0) < 1e-9; }));
}

TEST_CASE("speedups of different orders get a logarithmic axis") {
  const ChartAxis axis = value_axis(0.14, 14.0);
  CHECK(axis.logarithmic);
  CHECK(axis.ticks == std::vector<double>{0.2, 0.5, 1, 2, 5, 10});
}

TEST_CASE("a flat line has an axis too") {
  const ChartAxis axis = value_axis(1.0, 1.0);
  CHECK(axis.low < axis.high);
  CHECK(axis.ticks.size() >= 2);
}

TEST_CASE("an axis of GPUs has a tick at both ends and none that touch") {
  CHECK(span_axis(4, 96, doublings(4, 96)).ticks == std::vector<double>{4, 8, 16, 32, 64, 96});
  CHECK(span_axis(64, 1024, doublings(64, 1024)).ticks ==
        std::vector<double>{64, 128, 256, 512, 1024});
  CHECK(span_axis(4, 36, doublings(4, 36)).ticks == std::vector<double>{4, 8, 16, 36});
  const ChartAxis axis = span_axis(4, 96, {});
  CHECK(axis.low < 4);
  CHECK(axis.high > 96);
}

TEST_CASE("an axis of bandwidths has the rates of NICs") {
  CHECK(usual_rates(1, 100) == std::vector<double>{1, 2.5, 5, 10, 25, 50, 100});
}

TEST_CASE("curves of one family differ in shade, dashes and symbol, all in their letter") {
  std::vector<ChartCurve> curves;
  for (const char* label : {"powersgd:rank=4", "topk:ratio=0.01", "powersgd:rank=8",
                            "powersgd:rank=16", "topk:ratio=0.1"}) {
    curves.push_back(line(label, 1, 2));
  }
  const std::vector<CurveStyle> styles = curve_styles(curves);
  std::set<std::string> colours;
  std::set<char> letters;
  for (const CurveStyle& style : styles) {
    colours.insert(style.colour);
    letters.insert(style.letter);
  }
  CHECK(colours.size() == curves.size());
  CHECK(letters.size() == curves.size());
  CHECK(styles[0].dash != styles[2].dash);
  CHECK(styles[0].point_type != styles[2].point_type);
  CHECK(styles[0].width > styles[2].width);
}

TEST_CASE("curves of more families than there are hues look different all the same") {
  std::vector<ChartCurve> curves;
  for (int i = 1; i <= 28; ++i) {
    curves.push_back(line(std::to_string(i) + " Gb/s", 1, 2));
  }
  std::set<std::pair<std::string, std::string>> looks;
  for (const CurveStyle& style : curve_styles(curves)) {
    looks.insert({style.colour, std::string(style.dash)});
    CHECK(style.point_type != 6);  // the open circle of a break-even
  }
  CHECK(looks.size() == curves.size());
}

TEST_CASE("no two curves look alike, whatever families they are of and how large these are") {
  const auto distinct = [](const std::vector<ChartCurve>& curves) {
    std::set<std::pair<std::string, std::string>> looks;
    std::set<std::pair<std::string, int>> symbols;
    for (const CurveStyle& style : curve_styles(curves)) {
      looks.insert({style.colour, std::string(style.dash)});
      symbols.insert({style.colour, style.point_type});
    }
    CHECK(looks.size() == curves.size());
    CHECK(symbols.size() == curves.size());
  };
  // More than a hue has looks, then families that want the hues that those took.
  std::vector<ChartCurve> curves;
  for (int rank = 1; rank <= 9; ++rank) {
    curves.push_back(line("powersgd:rank=" + std::to_string(rank), 1, 2));
  }
  for (int i = 1; i <= 8; ++i) {
    curves.push_back(line("method " + std::to_string(i), 1, 2));
    curves.push_back(line("method " + std::to_string(i) + ":x=1", 1, 2));
  }
  distinct(curves);
  // Families that were told are not cut at their parameters.
  std::vector<ChartCurve> told;
  for (const char* rate : {"1", "2", "4", "8", "16", "32", "64"}) {
    for (const char* strategy : {"fp16", "powersgd:rank=4"}) {
      told.push_back(line(std::string(strategy) + ", " + rate + " Gb/s", 1, 2));
      told.back().family = told.back().label;
    }
  }
  distinct(told);
}

TEST_CASE("a picture says how far a ribbon goes on, where it is cut") {
  Chart chart = two_curves();
  CHECK(ribbon_note(chart).empty());
  chart.curves[0].band = {{1, 0.9, 2}, {8, 0.9, 1000}};
  CHECK(ribbon_note(chart) == "The ribbon goes on up to 1e+03.");
  CHECK_THAT(gnuplot_script(chart, Picture::svg, "x.svg"), ContainsSubstring("The ribbon goes on"));
}

TEST_CASE("curves of one family go by it, whatever their labels begin with") {
  std::vector<ChartCurve> curves{line("fp16, tp 2", 1, 2), line("fp16, tp 4", 1, 2)};
  curves[0].family = curves[1].family = "fp16";
  const std::vector<CurveStyle> styles = curve_styles(curves);
  CHECK(styles[1].member == 1);
  CHECK(styles[0].dash != styles[1].dash);
}

TEST_CASE("a crossing is told by the points around it, and marked from the one to the other") {
  const std::vector<ChartPoint> points{{1, 4}, {8, 2}, {16, 0.25}, {32, 3}};
  CHECK(crossings(points, 1.0) == std::vector<std::size_t>{2, 3});
  CHECK(crossings({{1, 2}, {16, 2}}, 1.0).empty());
  Chart chart = two_curves();
  chart.curves[1].points = points;
  chart.curves[1].crossings = {2};
  CHECK_THAT(
      gnuplot_script(chart, Picture::svg, "x.svg"),
      ContainsSubstring("$between1 << EOD\n8 2\n16 0.25\n\nEOD\n") && !ContainsSubstring("$marks"));
}

TEST_CASE("a chart without a base draws no line for it") {
  Chart chart = two_curves();
  chart.base_label.clear();
  const std::string script = gnuplot_script(chart, Picture::svg, "x.svg");
  CHECK_THAT(script, !ContainsSubstring("dt 1 lw 1.4"));
  CHECK_THAT(gnuplot_script(two_curves(), Picture::svg, "x.svg"), ContainsSubstring("dt 1 lw 1.4"));
}

TEST_CASE("a value between two points lies on the straight line of a logarithmic chart") {
  const std::vector<ChartPoint> points = {{1, 1}, {4, 4}};
  CHECK_THAT(value_at(points, 2), WithinRel(2.0, 1e-12));
  CHECK_THAT(value_at(points, 4), WithinAbs(4.0, 1e-12));
}

TEST_CASE("the script has the last tick within its range, and a drop line for each mark") {
  Chart chart = two_curves();
  chart.curves[0].marks = {{20, 1.0}};
  const std::string script = gnuplot_script(chart, Picture::svg, "x.svg");
  CHECK_THAT(script, ContainsSubstring("'96' 96)"));
  CHECK_THAT(script, ContainsSubstring("$marks0 using 1:2 with impulses"));
  CHECK_THAT(script, ContainsSubstring("powersgd:rank=4"));
}

TEST_CASE("the same chart is the same script, with its data and with quotes in its texts") {
  Chart chart = two_curves();
  chart.curves[1].label = "it's \"fp8\"";
  chart.curves[0].marks = {{5.65685, 1.0}};
  const std::string script = gnuplot_script(chart, Picture::svg, "out.svg");
  CHECK(script == gnuplot_script(chart, Picture::svg, "out.svg"));
  CHECK_THAT(script, ContainsSubstring("$curve0 << EOD\n4 0.95\n96 1.05\nEOD\n"));
  CHECK_THAT(script, ContainsSubstring("$marks0 << EOD\n5.65685 1\nEOD\n"));
  CHECK_THAT(script, ContainsSubstring("title 'it''s \"fp8\"'"));
}

TEST_CASE(
    "a text is never code to gnuplot: no command, no line of its own, no comment that goes on") {
  Chart chart = two_curves();
  const std::string text = "'`touch ran`\nsystem \"touch ran\"\n'\\";
  chart.title = text;
  chart.captions = {text};
  chart.x_label = chart.y_label = chart.base_label = text;
  chart.curves[0].label = text;
  chart.rival = line(text, 1, 1);
  chart.limits = {{20, text}};
  for (const Picture picture : {Picture::svg, Picture::terminal}) {
    std::string outside;  // what no single quotes enclose
    bool quoted = false;
    for (const char c : gnuplot_script(chart, picture, "out`touch ran`.svg")) {
      quoted = quoted != (c == '\'');
      outside += quoted ? ' ' : c;
    }
    CHECK_FALSE(quoted);
    CHECK_THAT(outside, !ContainsSubstring("`") && !ContainsSubstring("\nsystem") &&
                            !ContainsSubstring("\\\n$"));
  }
}

TEST_CASE("gnuplot draws any text as it is, runs none, and reads no settings of a user's") {
  const test::ScratchFolder folder;
  folder.write(".gnuplot", "set title 'of the user'\nset grid\n");
  Chart chart = two_curves();
  const std::string file = folder.path("ran");
  chart.title = "it's `touch " + file + "`\nsystem('touch " + file + "')";
  chart.curves[0].label = chart.title;
  const std::string before = picture_bytes(chart, Picture::svg);
  const char* home = std::getenv("HOME");
  const std::string own = home == nullptr ? "" : home;
  setenv("HOME", folder.path("").c_str(), 1);
  const std::string after = picture_bytes(chart, Picture::svg);
  home == nullptr ? unsetenv("HOME") : setenv("HOME", own.c_str(), 1);
  CHECK(folder.files() == std::vector<std::string>{".gnuplot"});
  CHECK_THAT(after, ContainsSubstring("`touch ") && ContainsSubstring("it's"));
  CHECK(after == before);
}

TEST_CASE("a picture of characters draws every curve with a letter of its own") {
  Chart chart = two_curves();
  chart.curves[1] = line("fp8", 1.02, 0.96);
  const std::string script = gnuplot_script(chart, Picture::terminal, "");
  CHECK_THAT(script, ContainsSubstring("$curve0 using 1:2 with points pt 'a'"));
  CHECK_THAT(script, ContainsSubstring("$curve1 using 1:2 with points pt 'b'"));
  CHECK_THAT(script, !ContainsSubstring("lw"));
}

TEST_CASE(
    "a chart in characters fits the terminal, its legend below its axis, without a form feed") {
  Chart chart = two_curves();
  chart.title = "a title that is longer than forty columns of characters are, by a few words";
  chart.x_label = "size of the gradient, uncompressed";
  chart.y_label = "gradient per second [GB/s]";
  chart.base_label = "memory: every byte once, 900 GB/s, which is the roof of all of these";
  chart.curves[0].remark = "pays up to 6.66 Gb/s";
  chart.limits = {{20, "the sockets of a node carry no more: faster NICs change nothing"}};
  chart.notes = {"a note"};
  for (const std::size_t columns : {40U, 80U, 100U, 160U}) {
    const std::string text = typed(chart, {columns});
    CAPTURE(columns, text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CHECK(count_characters(line) <= columns);
    }
    CHECK_THAT(text, !ContainsSubstring("\f") && ContainsSubstring("\na note\n"));
    CHECK(text.starts_with("a title that is longer"));
    // One after the other, each a line of its own.
    std::size_t at = 0;
    for (const char* part : {"gradient per second [GB/s]\n", "+----", "96\n",
                             "size of the gradient, uncompressed\n- memory: every byte",
                             "\na powersgd:rank=4 - pays", "\nb fp8\n| the sockets of"}) {
      const std::size_t found = text.find(part, at);
      CAPTURE(part);
      CHECK(found != std::string::npos);
      at = std::min(found, text.size());
    }
  }
}

TEST_CASE("a text is broken between words, within a word that is too long, never in a character") {
  CHECK(wrapped("one two three", 8) == "one two\nthree\n");
  CHECK(wrapped("- one two three", 9, 2) == "- one two\n  three\n");
  CHECK(wrapped("abcdefgh", 3) == "abc\ndef\ngh\n");
  CHECK(wrapped("\xc3\xa4\xc3\xa4\xc3\xa4", 2) == "\xc3\xa4\xc3\xa4\n\xc3\xa4\n");
}

TEST_CASE("the title of an SVG is that of the chart, whatever is in it") {
  Chart chart = two_curves();
  chart.title = "it's <gpt_2> & 3 nodes";
  chart.captions = {"a caption"};
  CHECK_THAT(picture_bytes(chart, Picture::svg),
             ContainsSubstring("<title>it's &lt;gpt_2&gt; &amp; 3 nodes</title>"));
}

TEST_CASE(
    "labels of an axis that spans a million GPUs do not run together, and are whole numbers") {
  const ChartAxis axis = span_axis(64, 1048576, doublings(64, 1048576));
  CHECK(axis.ticks.front() == 64);
  CHECK(axis.ticks.back() == 1048576);
  CHECK(axis.ticks.size() >= 5);
  for (std::size_t i = 1; i < axis.ticks.size(); ++i) {
    // A digit is 14 pixels wide and the axis 1080, at 2^14 of span.
    const double pixels = 1080.0 * std::log2(axis.ticks[i] / axis.ticks[i - 1]) / 14.0;
    const std::size_t digits =
        tick_text(axis.ticks[i]).size() + tick_text(axis.ticks[i - 1]).size();
    CHECK(pixels > 14.0 * static_cast<double>(digits) / 2);
  }
  CHECK(tick_text(1048576) == "1048576");
  CHECK(tick_text(0.25) == "0.25");
}

TEST_CASE("a legend that does not fit two columns gets one, and a taller picture") {
  Chart chart = two_curves();
  chart.curves[0].remark = "pays from 12 GPUs";
  CHECK_THAT(gnuplot_script(chart, Picture::png, "x.png"),
             ContainsSubstring("maxrows 2") && ContainsSubstring("size 1400,1000"));
  chart.curves[0].remark = "pays 3264 to 3904, 4288 to 31936, ... GPUs";
  CHECK_THAT(gnuplot_script(chart, Picture::png, "x.png"),
             ContainsSubstring("maxrows 3") && ContainsSubstring("size 1400,1240"));
}

TEST_CASE("curves that leave the picture are named in it, with how far they go") {
  Chart chart = two_curves();
  CHECK_THAT(gnuplot_script(chart, Picture::svg, "x.svg"), !ContainsSubstring("Not drawn"));
  chart.curves[1].points = {{4, 1.02}, {16, 0.9}, {96, 0.3}};
  CHECK_THAT(gnuplot_script(chart, Picture::svg, "x.svg"),
             ContainsSubstring("Not drawn below 0.5: fp8 (down to 0.3)."));
  CHECK_THAT(typed(chart), ContainsSubstring("Not drawn below 0.5: fp8 (down to 0.3)."));
}

TEST_CASE("of a curve that is slow everywhere half of the points are drawn") {
  Chart chart = two_curves();
  chart.curves[1].points = {{4, 0.4}, {16, 0.2}, {64, 0.1}};
  const ValueSpan span = shown_values(chart);
  CHECK(span.low == 0.2);
  REQUIRE(span.cut.size() == 1);
  CHECK(span.cut[0].label == chart.curves[1].label);
  CHECK(span.cut[0].value == 0.1);
}

TEST_CASE("the best curve is whole, however slow it gets and whatever it costs") {
  Chart chart = two_curves();
  chart.curves = {line("best", 40, 0.1), line("other", 1, 0.2)};
  CHECK(shown_values(chart).low == 0.1);
  CHECK(shown_values(chart).cut.empty());
  // Of costs: base 1, the best one begins above all limits, the other ends far above.
  chart.values = ChartValues::from_zero;
  chart.less_is_better = true;
  chart.base = {{4, 1}, {64, 1}};
  chart.curves = {line("best", 4, 0), line("other", 2, 90)};
  const ValueSpan span = shown_values(chart);
  CHECK_FALSE(span.logarithmic);
  CHECK(span.high == 4);
  REQUIRE(span.cut.size() == 1);
  CHECK(span.cut[0].label == "other");
  CHECK(span.cut[0].value == 90);
}

TEST_CASE("what is good when large is never cut, and the axis is logarithmic where it must be") {
  Chart chart = two_curves();
  chart.values = ChartValues::from_zero;
  chart.base = {{4, 1}, {64, 0.1}};
  chart.curves = {line("best", 9, 9), line("other", 1, 1)};
  CHECK(shown_values(chart).high == 9);
  CHECK(shown_values(chart).cut.empty());
  CHECK_FALSE(shown_values(chart).logarithmic);
  chart.curves[1] = line("other", 0.4, 0.4);  // less than a twentieth
  CHECK(shown_values(chart).logarithmic);
  CHECK_THAT(gnuplot_script(chart, Picture::svg, "x.svg"), ContainsSubstring("set logscale y"));
  chart.curves[1] = line("other", 0.4, 0);  // zero has no logarithm
  CHECK_FALSE(shown_values(chart).logarithmic);
}

TEST_CASE("symbols stand at points of a curve, and nowhere between") {
  Chart chart = two_curves();
  chart.x = span_axis(4, 64, {8, 16, 32});
  chart.curves.resize(1);
  chart.curves[0].points = {{4, 1}, {17, 2}, {64, 3}};
  const std::string script = gnuplot_script(chart, Picture::svg, "x.svg");
  const std::size_t from = script.find("$symbols0");
  const std::string block = script.substr(from, script.find("EOD\n", from + 20) - from);
  CHECK_THAT(block, ContainsSubstring("\n4 1\n") && ContainsSubstring("\n17 2\n") &&
                        ContainsSubstring("\n64 3\n") && !ContainsSubstring("\n16 "));
}
