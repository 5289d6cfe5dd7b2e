// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

Captured sweep_file(const ScratchFolder& folder, std::vector<std::string> more) {
  folder.write("job.yaml", test::small_job);
  more.insert(more.begin(), {"sweep", folder.path("job.yaml")});
  return test::payoff(more);
}

}  // namespace

TEST_CASE("mistakes of a sweep whose only axis is `compress` are told, and nothing is written") {
  const ScratchFolder folder;
  const std::string file = folder.path("runs.jsonl");
  const auto is_told = [&](std::vector<std::string> words, const char* what) {
    const Captured run = sweep_file(folder, std::move(words));
    CAPTURE(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring(what));
    CHECK(folder.files() == std::vector<std::string>{"job.yaml"});
  };
  is_told({"--over", "compress=nosuch", "-o", file}, "nosuch");
  is_told({"--over", "compress=nosuch"}, "nosuch");
  is_told({"--over", "compress=powersgd:rank=1,2,4", "--dry-run"}, "2");
  is_told({"--over", "compress=fp16", "--set", "layout.tpp=1", "-o", file}, "tpp");
}

TEST_CASE("a sweep whose only axis is `compress` is one job") {
  const ScratchFolder folder;
  const Captured run = sweep_file(folder, {"--over", "compress=none,fp16"});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK(std::count(run.out.begin(), run.out.end(), '\n') == 1 + 2);
}
