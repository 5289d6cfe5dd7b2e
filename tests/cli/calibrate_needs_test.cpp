// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What to measure first for a better verdict.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

const std::string job = PAYOFF_SOURCE_DIR "/examples/01-resnet50-v100/experiment.yaml";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE(
    "what an experiment needs is ranked by its share of the verdict, with a measurement each") {
  const Captured run = test::payoff({"calibrate", "needs", job});
  REQUIRE(run.code == ExitCode::success);
  const std::regex subject(R"((\d)\. (.+): (-?\d+) % of the variance of the speedup.*)");
  const std::regex number("     [a-z].* = .*, (assumed|datasheet)");
  int last = std::numeric_limits<int>::max();
  int subjects = 0;
  int numbers = 0;
  bool has_measurement = true;
  for (const std::string& line : lines_of(run.out)) {
    INFO(line);
    std::smatch found;
    if (std::regex_match(line, found, subject)) {
      CHECK(has_measurement);  // of the one before
      CHECK(std::stoi(found[3]) <= last);
      last = std::stoi(found[3]);
      CHECK(std::stoi(found[1]) == ++subjects);
      has_measurement = false;
    } else if (line.starts_with("     ")) {
      CHECK(std::regex_match(line, number));
      CHECK(has_measurement);
      ++numbers;
    } else if (line.starts_with("   ")) {
      has_measurement = true;
    }
  }
  CHECK(has_measurement);
  CHECK(subjects >= 3);
  CHECK(numbers > 10);
  CHECK_THAT(run.out, ContainsSubstring("all_reduce_perf on 32 GPUs of 8 nodes") &&
                          ContainsSubstring("payoff-kernels --only launch on v100-sxm2-16"));
}

TEST_CASE("what to measure next is said before the numbers, the most telling first") {
  const Captured run = test::payoff({"calibrate", "needs", job});
  REQUIRE(run.code == ExitCode::success);
  const std::regex row(R"(\| (.+) +\| +(\d+) % \| +(\d+) % \|)");
  int last = 0;
  int rows = 0;
  for (const std::string& line : lines_of(run.out)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) {
      continue;
    }
    INFO(line);
    if (found[1].str().starts_with("none ")) {
      CHECK(found[2] == "100");
      CHECK(found[3] == "0");  // too close to call
      continue;
    }
    CHECK(std::stoi(found[2]) >= last);
    last = std::stoi(found[2]);
    ++rows;
  }
  CHECK(rows >= 8);
  CHECK(run.out.find("What to measure next") < run.out.find("1. "));
  CHECK_THAT(run.out, ContainsSubstring("a step, 8 nodes: --observed step=TIME@nodes=8") &&
                          ContainsSubstring("nccl-tests: reductions from 1 MiB"));
}

TEST_CASE("what was observed already is not worth much a second time") {
  const auto next_of = [](std::vector<std::string> words) {
    words.emplace_back("--json");
    const Captured run = test::payoff(words);
    REQUIRE(run.code == ExitCode::success);
    double left = 0;
    const auto result = nlohmann::json::parse(run.out);
    for (const auto& next : result.at("next")) {
      if (next.at("measurement") == "step" && next.at("nodes") == 8) {
        left = next.at("spread_ratio").get<double>();
      }
    }
    return left;
  };
  const double first = next_of({"calibrate", "needs", job});
  const double second = next_of({"calibrate", "needs", job, "--observed", "step=420ms@nodes=8"});
  CHECK(first < 0.9);
  CHECK(second > first);
}

TEST_CASE("needs refuse what only other actions take, and say what is wrong with a measurement") {
  const Captured run = test::payoff({"calibrate", "needs", job, "--full", "--gpu", "h100-sxm",
                                     "--observed", "step=1s,exposed=2s"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`needs` has no use for `--full`") &&
                          ContainsSubstring("`needs` has no use for `--gpu`") &&
                          ContainsSubstring("is not shorter than the step"));
}

TEST_CASE("a number that the user states needs no measurement") {
  const Captured before = test::payoff({"calibrate", "needs", job});
  CHECK_THAT(before.out, ContainsSubstring("cluster.nics_per_node = "));
  const Captured after =
      test::payoff({"calibrate", "needs", job, "--set", "cluster.nics_per_node=1"});
  REQUIRE(after.code == ExitCode::success);
  CHECK(after.out.find("cluster.nics_per_node = ") == std::string::npos);
}

TEST_CASE("needs are of one experiment in which there is something to decide") {
  const Captured none = test::payoff({"calibrate", "needs"});
  CHECK(none.code == ExitCode::bad_input);
  CHECK_THAT(none.err, ContainsSubstring("takes one experiment, not 0 files"));
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);  // without a strategy
  const Captured nothing = test::payoff({"calibrate", "needs", folder.path("job.yaml")});
  CHECK(nothing.code == ExitCode::bad_input);
  CHECK_THAT(nothing.err, ContainsSubstring("there is nothing to decide"));
  CHECK_THAT(test::payoff({"calibrate", "needs", job, "--set", "compress=[]"}).err,
             ContainsSubstring("no strategy is given"));
  CHECK_THAT(test::payoff({"calibrate", "need", job}).err,
             ContainsSubstring("did you mean `needs`"));
}
