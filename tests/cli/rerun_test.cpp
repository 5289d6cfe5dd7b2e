// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/result_differences.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using nlohmann::ordered_json;
using test::Captured;
using test::ScratchFolder;

namespace {

// A prediction that was kept, of words that need quotes.
std::string kept(const ScratchFolder& folder) {
  std::vector<std::string> words = test::small_experiment({"--name", "it's two words"});
  words.insert(words.begin(), "predict");
  words.insert(words.end(), {"--json", folder.path("result.json"), "--csv", folder.path("t.csv")});
  const Captured run = test::payoff(words);
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  REQUIRE(std::remove(folder.path("t.csv").c_str()) == 0);
  return folder.path("result.json");
}

}  // namespace

TEST_CASE("a result that is made again with the same program and files differs in nothing") {
  const ScratchFolder folder;
  const std::string file = kept(folder);
  const std::string before = test::read_text(file);
  const Captured run = test::payoff({"rerun", file, "--check"});
  INFO(run.out << run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("All inputs have the bytes that they had."));
  CHECK_THAT(run.out, ContainsSubstring("Nothing differs: all "));
  // Nothing that the command wrote is written again.
  CHECK(test::read_text(file) == before);
  CHECK(folder.files() == std::vector<std::string>{"result.json"});
}

TEST_CASE("what differs is told value by value, the largest first, and inputs apart") {
  const ScratchFolder folder;
  const std::string file = kept(folder);
  ordered_json result = ordered_json::parse(test::read_text(file));
  const double step = result["plans"][0]["step_seconds"];
  result["plans"][0]["step_seconds"] = step * 2;  // half of it now
  result["plans"][0]["speedup"] = 1.25;           // 1 now: a fifth less
  result["profiles"][0]["sha256"] = std::string(64, '0');
  folder.write("result.json", result.dump());
  const json told = test::json_of({"rerun", file});
  CHECK(told["kind"] == "rerun");
  REQUIRE(told["changed_inputs"].size() == 1);
  CHECK(told["changed_inputs"][0] == result["profiles"][0]["file"]);
  const json& found = told["differences"];
  REQUIRE_FALSE(found.empty());
  bool has_step = false;
  for (const json& each : found) {
    if (each["path"] == "plans.0.step_seconds") {
      has_step = true;
      CHECK(each["then"] == step * 2);
      CHECK(each["now"] == step);
    }
  }
  CHECK(has_step);
  const Captured text = test::payoff({"rerun", file, "--check"});
  CHECK(text.code == ExitCode::check_failed);
  CHECK_THAT(text.out, ContainsSubstring("Changed since: "));
  CHECK_THAT(text.out, ContainsSubstring("| plans.0.step_seconds |"));
  CHECK_THAT(text.out, ContainsSubstring("50.0 %"));
  CHECK(test::payoff({"rerun", file}).code == ExitCode::success);
}

TEST_CASE("keys that one of two results lacks are differences, and so are other texts") {
  const auto found = differences_of(ordered_json{{"a", 1.0}, {"b", {1, 2}}, {"c", "x"}, {"t", 1}},
                                    ordered_json{{"a", 1.5}, {"b", {1}}, {"d", nullptr}}, {"t"});
  CHECK(found.values == 5);  // a, b.0, b.1, c, d
  REQUIRE(found.found.size() == 4);
  CHECK(found.found.back().path == "a");
  CHECK_THAT(found.found.back().size(), WithinRel(1.0 / 3.0, 1e-12));
  CHECK(found.found.front().now.is_discarded());
}

TEST_CASE("a result in place of an experiment is said to be made again where it is") {
  const ScratchFolder folder;
  const std::string file = folder.path("kept.json");
  const auto refused = [&](const char* content) {
    folder.write("kept.json", content);
    return test::payoff({"predict", file}).err;
  };
  const std::string of_explain = refused(R"({"schema": 1, "kind": "explain", "terms": []})");
  CHECK_THAT(of_explain, ContainsSubstring("is a result of `payoff explain`"));
  CHECK_THAT(of_explain, ContainsSubstring("`payoff rerun` runs its command line again"));
  const std::string of_check = refused(R"({"schema": 1, "kind": "check", "files": []})");
  CHECK_THAT(of_check, ContainsSubstring("is a result of `payoff check`"));
  CHECK(of_check.find("payoff rerun") == std::string::npos);
  CHECK_THAT(refused(R"({"schema": 1, "kind": "gpu_difference", "a": "x"})"),
             ContainsSubstring("is a result of `payoff calibrate diff`"));
}

TEST_CASE("only results of commands that write nothing are made again") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& content) {
    folder.write("r.json", content);
    const Captured run = test::payoff({"rerun", folder.path("r.json")});
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK_THAT(refused("{}"), ContainsSubstring("is no result of payoff as JSON"));
  CHECK_THAT(refused("no json"), ContainsSubstring("is no result of payoff as JSON"));
  for (const char* line :
       {"payoff calibrate run -o x.json", "payoff", "rm -rf x", "payoff 'predict",
        "payoff rerun r.json", "payoff sweep job.yaml -o runs.jsonl"}) {
    INFO(line);
    CHECK_THAT(refused(json{{"command_line", line}}.dump()),
               ContainsSubstring("holds a command line that is not run again"));
  }
  const std::string gone =
      refused(json{{"command_line", "payoff predict gone.yaml --json"}}.dump());
  CHECK_THAT(gone, ContainsSubstring("gone.yaml"));
  CHECK_THAT(gone, ContainsSubstring("fails now"));
}
