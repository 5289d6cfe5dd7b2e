// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// payoff survey: of many setups, how many pay, and why the others do not.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::json_of;
using payoff::test::ScratchFolder;

namespace {

const std::string grid = std::string(test::small_job) +
                         "over:\n"
                         "  bandwidth: [1 Gb/s, 100 Gb/s]\n"
                         "  micro-batch: [16, 64]\n"
                         "compress: [\"powersgd:rank=4\", signsgd]\n";

}  // namespace

TEST_CASE("a survey counts every strategy of every job once") {
  const ScratchFolder folder;
  folder.write("grid.yaml", grid);
  const json result = json_of({"survey", folder.path("grid.yaml")});
  CHECK(result["setups"] == 8);
  REQUIRE(result["rows"].size() == 8);
  int findings = 0;
  for (const auto& [finding, count] : result["findings"].items()) {
    findings += count.get<int>();
  }
  CHECK(findings == 8);
  CHECK(result["rows"][0]["bandwidth_bytes_per_second"] == 125e6);
  CHECK(result["rows"][0]["micro-batch"] == 16);
  CHECK(result["rows"][0]["strategy"] == "powersgd:rank=4");
  CHECK(result["rows"][0]["finding"] == "pays");
}

TEST_CASE("a survey says of a setup what a sweep says of the same job") {
  const ScratchFolder folder;
  folder.write("job.yaml", std::string(test::small_job) + "compress: [\"powersgd:rank=4\"]\n");
  std::vector<std::string> words{"survey", folder.path("job.yaml"), "--over",
                                 "bandwidth=1 Gb/s,100 Gb/s"};
  const json survey = json_of(words);
  words.front() = "sweep";
  words.emplace_back("--verdicts");
  std::istringstream lines(test::payoff(words).out);
  std::string line;
  std::getline(lines, line);
  std::size_t next = 0;
  while (std::getline(lines, line)) {
    const json row = json::parse(line);
    if (row["strategy"] != "none") {
      CHECK(survey["rows"][next]["strategy"] == row["strategy"]);
      CHECK(survey["rows"][next]["step_seconds"] == row["step_seconds"]);
      CHECK(survey["rows"][next]["speedup_against_remedy"] == row["speedup_against_remedy"]);
      ++next;
    }
  }
  CHECK(next == 2);
}

TEST_CASE("a strategy that a job cannot have does not take the others with it") {
  const ScratchFolder folder;
  folder.write("grid.yaml", std::string(test::small_job) +
                                "over: {layout.zero: [0, 3]}\n"
                                "compress: [\"powersgd:rank=4\", fp16]\n");
  const json result = json_of({"survey", folder.path("grid.yaml")});
  CHECK(result["setups"].get<int>() + result["impossible"].get<int>() == 4);
  for (const json& row : result["rows"]) {
    CHECK((row["finding"] == "impossible") == row["reason"].is_string());
  }
}

TEST_CASE("what is wrong with the values of a grid is told at their place") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& over) {
    folder.write("grid.yaml", std::string(test::small_job) + over + "compress: [signsgd]\n");
    const Captured run = test::payoff({"survey", folder.path("grid.yaml")});
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  };
  const std::string unknown = refused("over: {cluster.gpu: [v100-sxm2-16, v10]}\n");
  CHECK_THAT(unknown, ContainsSubstring("no gpu `v10`"));
  CHECK_THAT(unknown, ContainsSubstring("grid.yaml:5:36"));
  CHECK_THAT(refused("over: {compress: [fp16]}\n"), ContainsSubstring("is no axis of jobs"));
  CHECK_THAT(refused("over: {micro-batch: [4, 4]}\n"), ContainsSubstring("is given twice"));
  CHECK_THAT(refused("over: {micro-batch: []}\n"), ContainsSubstring("has no values"));
  CHECK_THAT(refused(""), ContainsSubstring("no axis is given"));
  folder.write("empty.yaml", "");
  const Captured empty = test::payoff({"survey", folder.path("empty.yaml")});
  CHECK(empty.code == ExitCode::bad_input);
  CHECK_THAT(empty.err, ContainsSubstring("empty.yaml:1:1"));
}
