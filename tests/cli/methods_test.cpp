// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// `payoff methods`: what is said of each method, and of one in a file of one's own.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

// Half the bytes of fp32, summed on the way.
constexpr const char* halves = R"(method: halves
description: every other value
implementation: fused
granularity: tensor
sums_in_collective: true
traffic: [dp_gradients]
rounds: [{encode: {bytes: "n", kernels: "1"}, collective: all_reduce, message: "v * n / 2"}]
decode: {bytes: "n", kernels: "1"}
wire: {as_published: "v * n / 2", as_implemented: "v * n / 2", used: as_published}
)";

}  // namespace

TEST_CASE("no test knows a method in a file of one's own, and nobody else implements it") {
  const test::ScratchFolder folder;
  folder.write("halves.yaml", halves);
  const test::Captured shown = test::payoff({"methods", "show", folder.path("halves.yaml")});
  CHECK(shown.code == ExitCode::success);
  CHECK_THAT(shown.out, ContainsSubstring("unchecked       a file of your own"));
  CHECK_THAT(shown.out, ContainsSubstring("implemented in  whatever your file describes"));
  CHECK_THAT(shown.out, !ContainsSubstring("independently sourced"));
  const json method = test::json_of({"methods", "show", folder.path("halves.yaml")})["methods"][0];
  CHECK(method["checked"] == false);
  CHECK_THAT(method["wire_ratio"].get<double>(), WithinRel(0.5, 1e-12));
}

TEST_CASE("the list of methods counts those that no test holds to a number, as JSON and CSV do") {
  const json all = test::json_of({"methods"})["methods"];
  const auto unchecked = std::count_if(
      all.begin(), all.end(), [](const json& method) { return method["checked"] == false; });
  REQUIRE(unchecked > 0);
  for (const json& method : all) {
    INFO(method["name"]);
    CHECK(method["checked"] == method["unchecked_because"].get<std::string>().empty());
    CHECK_FALSE(method["implementations"].empty());
  }
  const test::Captured text = test::payoff({"methods"});
  CHECK_THAT(text.out, ContainsSubstring(std::to_string(unchecked) + " are not held to"));
  const std::string csv = test::payoff({"methods", "--csv", "-"}).out;
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == all.size() + 1);
}

TEST_CASE("every unknown name of a method is told in one run, with the nearest one") {
  const test::Captured run = test::payoff({"methods", "show", "powersdg", "topk", "zon"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("powersdg") && ContainsSubstring("`powersgd`"));
  CHECK_THAT(run.err, ContainsSubstring("2 errors"));
  CHECK(run.out.empty());
}
