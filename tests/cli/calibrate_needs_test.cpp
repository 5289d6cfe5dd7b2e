// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

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
  CHECK_THAT(test::payoff({"calibrate", "need", job}).err,
             ContainsSubstring("did you mean `needs`"));
}
