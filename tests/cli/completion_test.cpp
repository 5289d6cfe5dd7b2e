// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;

namespace {

using Words = std::set<std::string>;

// What is offered behind `words`, the last of which is unfinished; ":files" for files.
Words candidates(std::vector<std::string> words) {
  words.insert(words.begin(), {"completion", "candidates", "--"});
  std::istringstream lines(test::payoff(words).out);
  Words found;
  for (std::string line; std::getline(lines, line);) {
    found.insert(line.substr(0, line.find('\t')));
  }
  return found;
}

// The first words of those lines of a help that say what an action does: in the first column, below
// the options, lower case, and followed by what it takes: "fit SAMPLES... -o NAME.yaml   the same".
Words actions_in_help(const std::string& command) {
  std::istringstream lines(test::payoff({command, "--help"}).out);
  Words actions;
  bool behind_options = false;
  for (std::string line; std::getline(lines, line) && line != "Example:";) {
    behind_options = behind_options || line == "Options:";
    const std::size_t space = line.find(' ');
    if (!behind_options || space == 0 || space == std::string::npos || space + 1 >= line.size()) {
      continue;
    }
    const auto first = static_cast<unsigned char>(line[0]);
    const auto next = static_cast<unsigned char>(line[space + 1]);
    const bool takes = next == '-' || next == '[' || std::isupper(next) != 0;
    if (std::islower(first) != 0 && takes && line.find("   ") != std::string::npos) {
      actions.insert(line.substr(0, space));
    }
  }
  return actions;
}

bool has(const Words& words, const std::string& word) { return words.count(word) == 1; }

}  // namespace

TEST_CASE("the actions that are completed are those of the help, no more and no fewer") {
  for (const std::string command : {"calibrate", "import"}) {
    CAPTURE(command);
    const Words actions = actions_in_help(command);
    REQUIRE(actions.size() >= 3);
    Words offered = candidates({command, ""});
    CHECK(offered.erase(":files") == 1);
    CHECK(offered == actions);
  }
}

TEST_CASE("fixed words that an option takes stand in its help") {
  const std::vector<std::vector<std::string>> asked{
      {"sweep", "--engine"},  {"predict", "--engine"},   {"calibrate", "--format"},
      {"plot", "--against"},  {"collective", "--proto"}, {"calibrate", "--implementation"},
      {"plot", "--quantity"}, {"plot", "--x"},           {"plot", "--y"},
      {"validate", "--half"}, {"validate", "--by"},      {"validate", "--set"},
      {"simulate", "--level"}};
  for (const std::vector<std::string>& words : asked) {
    CAPTURE(words[0], words[1]);
    const std::string help = test::payoff({words[0], "--help"}).out;
    const Words offered = candidates({words[0], words[1], ""});
    CHECK(offered.size() >= 2);
    for (const std::string& word : offered) {
      CAPTURE(word);
      CHECK(help.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("engines are completed where they are understood") {
  CHECK(candidates({"sweep", "--engine", ""}) == Words{"analytical", "sim"});
  for (const std::string& engine : candidates({"predict", "--engine", ""})) {
    CAPTURE(engine);
    CHECK(test::predict(test::small_experiment({"--engine", engine})).code == ExitCode::success);
  }
}

TEST_CASE("parameters of a method are completed: those of its profile, and what all methods take") {
  const Words all = candidates({"predict", "--compress", "powersgd:"});
  CHECK(has(all, "powersgd:rank="));
  CHECK(has(all, "powersgd:placement="));
  CHECK(candidates({"predict", "--compress", "powersgd:ra"}) == Words{"powersgd:rank="});
  CHECK(candidates({"predict", "--compress=topk:rat"}) == Words{"--compress=topk:ratio="});
  CHECK(candidates({"predict", "--compress", "powersgd:rank=4,placem"}) ==
        Words{"powersgd:rank=4,placement="});
  CHECK(candidates({"predict", "--compress", "powersgd + qsgd:bi"}) ==
        Words{"powersgd + qsgd:bits="});
  CHECK(candidates({"predict", "--compress", "nosuch:ra"}).empty());
  CHECK(candidates({"sweep", "--over", "compress=none,powersgd:ra"}) ==
        Words{"compress=none,powersgd:rank="});
  CHECK(has(candidates({"sweep", "--over", "compress=powersgd:rank=4,sig"}),
            "compress=powersgd:rank=4,signsgd"));
  // Every one that is offered is understood.
  for (const std::string& word : all) {
    CAPTURE(word);
    const auto run = test::predict(test::small_experiment({"--compress", word + "nonsense"}));
    CHECK(run.err.find("has no parameter") == std::string::npos);
  }
}

TEST_CASE("an axis of a sweep is completed: short keys, long keys, methods behind commas") {
  CHECK(candidates({"sweep", "--over", "nodes"}) == Words{"nodes="});
  CHECK(has(candidates({"sweep", "--over", "layout.sched"}), "layout.schedule="));
  CHECK(has(candidates({"sweep", "--over", "comp"}), "compress="));
  CHECK(has(candidates({"sweep", "--over", "compress=pow"}), "compress=powersgd"));
  CHECK(has(candidates({"sweep", "--over", "compress=none,pow"}), "compress=none,powersgd"));
  CHECK(has(candidates({"sweep", "--over=compress=pow"}), "--over=compress=powersgd"));
  CHECK(has(candidates({"sweep", "--over", "cluster=p3-8xlarge,dgx-h1"}),
            "cluster=p3-8xlarge,dgx-h100"));
  CHECK(has(candidates({"sweep", "--over", "layout.schedule=1f1b,dual"}),
            "layout.schedule=1f1b,dualpipe-v"));
}
