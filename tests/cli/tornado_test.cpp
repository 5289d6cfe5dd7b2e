// SPDX-License-Identifier: Apache-2.0
#include <sstream>
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

TEST_CASE("a tornado in characters has each bar from its low to its high, and fits the terminal") {
  const std::string shown = typed(two_bars(), {60});
  // 1.0 to 1.5 and 0.03 of room at both ends; "codec (61 %) |" leaves 46 columns, the first is 0:
  // 1.0 stands at 0.03 / 0.56 x 45 = 2.4, 1.5 at 42.6, the centre 1.2 at 18.5.
  CHECK(shown.starts_with("title\n"));
  CHECK(shown.find("codec (61 %) |  <---------------|------------------------>\n") !=
        std::string::npos);
  // 1.1 stands at 10.4, 1.3 at 26.5.
  CHECK(shown.find("     compute |          <-------|-------->\n") != std::string::npos);
  CHECK(shown.find("caption\n") != std::string::npos);
  CHECK(shown.find("         compute") == std::string::npos);
  std::istringstream narrow(typed(two_bars(), {40}));
  bool above = false;
  for (std::string line; std::getline(narrow, line);) {
    CHECK(line.size() <= 40);
    above = above || line == "codec (61 %)";
  }
  CHECK(above);
}
