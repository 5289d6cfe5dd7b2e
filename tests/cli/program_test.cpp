// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;

TEST_CASE("without a command, the commands are listed") {
  const Captured help = test::payoff({});
  CHECK(help.code == ExitCode::success);
  CHECK_THAT(help.out, ContainsSubstring("collective"));
  CHECK_THAT(help.out, ContainsSubstring("profiles"));
  CHECK(help.err.empty());
}

TEST_CASE("a mistyped command exits with 2 and a suggestion") {
  const Captured wrong = test::payoff({"colective", "all_reduce"});
  CHECK(wrong.code == ExitCode::bad_input);
  CHECK(wrong.out.empty());
  CHECK_THAT(wrong.err, ContainsSubstring("unknown command `colective`"));
  CHECK_THAT(wrong.err, ContainsSubstring("did you mean `collective`?"));
}

TEST_CASE("errors can be had as JSON") {
  const Captured wrong = test::payoff({"profiles", "shwo", "--error-format", "json"});
  CHECK(wrong.code == ExitCode::bad_input);
  const auto json = nlohmann::json::parse(wrong.err);
  REQUIRE(json["errors"].size() == 1);
  CHECK_THAT(json["errors"][0]["message"].get<std::string>(), ContainsSubstring("shwo"));
}

TEST_CASE("an unknown error format is an error") {
  CHECK(test::payoff({"profiles", "--error-format", "xml"}).code == ExitCode::bad_input);
}

TEST_CASE("the help of predict says what limits a remedy") {
  const Captured help = test::payoff({"predict", "--help"});
  for (const char* key :
       {"limits.global_batch", "limits.change_gradient_precision", "limits.change_buckets",
        "limits.change_algorithm", "--save", "ends in .json"}) {
    CHECK_THAT(help.out, ContainsSubstring(key));
  }
}

TEST_CASE("the list of commands says what the exit status means") {
  CHECK_THAT(test::payoff({}).out, ContainsSubstring("Exit status: 0"));
}

TEST_CASE("a collective of one GPU sends nothing, in words") {
  const Captured run =
      test::payoff({"collective", "all_reduce", "--cluster", "dgx-h100", "--ranks", "1"});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("nobody to talk to"));
}
