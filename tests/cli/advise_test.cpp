// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::json_of;
using payoff::test::ScratchFolder;
using payoff::test::small_experiment;

namespace {

std::vector<std::string> advise_small(std::vector<std::string> more = {}) {
  std::vector<std::string> words = small_experiment(std::move(more));
  words.insert(words.begin(), "advise");
  return words;
}

double step_of(const json& plans, const std::string& label) {
  for (const json& plan : plans) {
    if (plan.contains("strategy") ? plan["strategy"] == label : plan["label"] == label) {
      return plan["step_seconds"];
    }
  }
  FAIL(label);
  return 0;
}

// That predict makes of the saved plan what advise said of it.
void check_saved(std::vector<std::string> words) {
  const ScratchFolder folder;
  const std::string file = folder.path("advised.yaml");
  words.insert(words.end(), {"--save", file});
  const json advice = json_of(words);
  REQUIRE(advice["advised"].is_string());
  const json predicted = json_of({"predict", file});
  REQUIRE(predicted["plans"].size() == 2);
  CHECK(predicted["plans"][1]["step_seconds"].get<double>() ==
        step_of(advice["compared"], advice["advised"]));
}

}  // namespace

TEST_CASE("the plan that advise saves is predicted with the step that it printed") {
  check_saved(advise_small());
}

TEST_CASE("what is saved of a job that is better left uncompressed compresses nothing, with why") {
  const ScratchFolder folder;
  const std::string file = folder.path("advised.yaml");
  const std::string job = PAYOFF_SOURCE_DIR "/examples/01-resnet50-v100/experiment.yaml";
  const Captured run = test::payoff({"advise", job, "--compress", "fp16", "--save", file});
  INFO(run.out + run.err);
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("| fastest plan"));
  CHECK_THAT(run.out, ContainsSubstring("Compress nothing: the fastest plan is"));
  CHECK_THAT(run.out, !ContainsSubstring("\ncompress:"));
  const std::string saved = test::read_text(file);
  CHECK_THAT(saved, ContainsSubstring("# payoff advise: compress nothing: the fastest plan is"));
  CHECK_THAT(saved, ContainsSubstring("compress: []"));
  CHECK(json_of({"predict", file})["plans"].size() == 1);
}

TEST_CASE("bits that no method keeps leave nothing to compress, and the best remedy") {
  const Captured run = test::payoff(advise_small({"--least-bits", "32"}));
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("Compress nothing"));
  CHECK_THAT(run.out, ContainsSubstring("over the budget"));
}

TEST_CASE("budgets that make no sense are told together, and nothing is written") {
  const ScratchFolder folder;
  const Captured run =
      test::payoff(advise_small({"--most-ratio", "0.5", "--inflation", "much", "--least-bits", "-1",
                                 "--save", folder.path("advised.yaml")}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  for (const char* option : {"--most-ratio", "--inflation", "--least-bits"}) {
    CHECK_THAT(run.err, ContainsSubstring(option));
  }
  CHECK(folder.files().empty());
}

TEST_CASE("advise does not write over a file unless it is told to") {
  const ScratchFolder folder;
  folder.write("advised.yaml", "mine");
  const std::string file = folder.path("advised.yaml");
  CHECK(test::payoff(advise_small({"--save", file})).code == ExitCode::bad_input);
  CHECK(test::read_text(file) == "mine");
  CHECK(test::payoff(advise_small({"--save", file, "--force"})).code == ExitCode::success);
  CHECK(test::read_text(file) != "mine");
}
