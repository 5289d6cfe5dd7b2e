// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cli/tornado_chart.hpp"
#include "tests/catch.hpp"

using namespace payoff;

namespace {

Tornado two_bars() {
  return {
      "title", {"caption"}, "speedup", 1.2, {{"codec (61 %)", 1.0, 1.5}, {"compute", 1.1, 1.3}}};
}

}  // namespace

TEST_CASE("a tornado carries its data, the first bar on top") {
  const std::string script = gnuplot_script(two_bars(), Picture::svg, "out.svg");
  // centre, low, high, height: of two bars the first stands at 2
  CHECK(script.find("$bars << EOD\n1.2 1 1.5 2\n1.2 1.1 1.3 1\nEOD\n") != std::string::npos);
  CHECK(script.find("set output 'out.svg'\n") != std::string::npos);
}

TEST_CASE("a percent sign in the label of a bar is no format of a number") {
  CHECK(gnuplot_script(two_bars(), Picture::png, "").find("codec (61 %%)") != std::string::npos);
}

TEST_CASE("gnuplot draws a tornado in characters") {
  const std::string shown = drawn([](const std::string& output) {
    return gnuplot_script(two_bars(), Picture::terminal, output);
  });
  CHECK(shown.find("codec (61 %)") != std::string::npos);
  CHECK(shown.find('<') < shown.find('>'));
}
