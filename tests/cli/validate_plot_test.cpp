// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/scatter_chart.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"
#include "tests/cli/training_file.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using payoff::test::training_file;

TEST_CASE("a picture of a comparison has every scored case at its place, by source") {
  const ScratchFolder folder;
  const std::string judged = training_file("megatron_sc21");
  const std::string fitted = training_file("korthikanti_2022");
  const Captured run =
      test::payoff({"validate", "--set", "step", judged, fitted, "--plot", folder.path("steps.gp"),
                    "--json=" + folder.path("steps.json")});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const json result = json::parse(test::read_text(folder.path("steps.json")));
  const std::string script = test::read_text(folder.path("steps.gp"));
  CHECK_THAT(script, ContainsSubstring("set logscale xy"));
  CHECK_THAT(script, ContainsSubstring("korthikanti") && ContainsSubstring("megatron"));
  std::size_t points = 0;
  std::istringstream lines(script);
  bool data = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("<< EOD")) {
      data = true;
    } else if (line == "EOD") {
      data = false;
    } else if (data) {
      double measured = 0;
      double predicted = 0;
      std::istringstream(line) >> measured >> predicted;
      const bool found =
          std::any_of(result["cases"].begin(), result["cases"].end(), [&](const json& each) {
            return !each["predicted"].is_null() &&
                   std::abs(each["measured"].get<double>() / measured - 1) < 1e-5 &&
                   std::abs(each["predicted"].get<double>() / predicted - 1) < 1e-5;
          });
      CHECK(found);
      ++points;
    }
  }
  std::size_t scored = 0;
  for (const json& each : result["cases"]) {
    scored += each["error"].is_null() ? 0U : 1U;
  }
  CHECK(points == scored);
}

TEST_CASE("as many sources as there are have a colour and symbol each, and units in brackets") {
  Scatter scatter;
  scatter.x_label = "measured time [s]";
  for (int i = 0; i < 28; ++i) {
    scatter.groups.push_back({std::to_string(i), {}, {{1.0 + i, 2.0}}, {}, {}});
  }
  std::istringstream lines(gnuplot_script(scatter, Picture::svg, "x.svg"));
  std::set<std::string> looks;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("points pt ");
    if (at != std::string::npos) {
      looks.insert(line.substr(at, line.find(" title") - at));
    }
  }
  CHECK(looks.size() == 28);
  ValidationCase step;
  step.kind = CaseKind::step;
  CHECK(scatter_of({step}, CaseKind::step).x_label == "measured time of a step [s]");
  CHECK(scatter_of({step}, CaseKind::collective).y_label == "predicted time [s]");
}

TEST_CASE("a picture is of one kind of cases, under a name that says what it is") {
  const Captured run = test::payoff({"validate", "--plot", "picture.jpg"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("ends in none of") &&
                          ContainsSubstring("a picture has one kind of cases"));
}
