// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
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

std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
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

TEST_CASE(
    "a part of the jobs that the environment asked for is told, one that was asked for is not") {
  const ScratchFolder folder;
  const std::vector<std::string> axis{"--over", "bandwidth=10 Gb/s,20 Gb/s,40 Gb/s"};
  const auto results = [](const Captured& run) {
    return std::count(run.out.begin(), run.out.end(), '\n') - 1;
  };
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  const Captured told = sweep_file(folder, axis);
  const Captured all = sweep_file(folder, {axis[0], axis[1], "--shard", "0/1"});
  setenv("SLURM_ARRAY_TASK_ID", "0", 1);
  setenv("SLURM_ARRAY_TASK_COUNT", "1", 1);
  const Captured both = sweep_file(folder, axis);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  const Captured alone = sweep_file(folder, axis);
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"}) {
    unsetenv(name);
  }
  CHECK(results(told) == 1);  // job 1 of 0 to 2
  CHECK(test::besides_trust(told.err) ==
        "note: shard 1 of 2 (from 0), by OMPI_COMM_WORLD_RANK: `--shard 0/1` runs every job\n");
  CHECK(results(all) == 3);
  CHECK(test::besides_trust(all.err).empty());
  CHECK_THAT(both.err, ContainsSubstring("by SLURM_ARRAY_TASK_ID and OMPI_COMM_WORLD_RANK: "));
  CHECK(results(alone) == 3);
  CHECK(test::besides_trust(alone.err).empty());
}

TEST_CASE("results of a sweep are not written as JSON Lines under the name of a CSV file") {
  const ScratchFolder folder;
  const Captured run =
      sweep_file(folder, {"--over", "bandwidth=10 Gb/s,20 Gb/s", "-o", folder.path("a.csv")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("a.csv would be JSON Lines") &&
                          ContainsSubstring("payoff merge runs.jsonl --csv"));
  CHECK(folder.files() == std::vector<std::string>{"job.yaml"});
  const std::string file = folder.path("a.jsonl");
  REQUIRE(sweep_file(folder, {"--over", "bandwidth=10 Gb/s,20 Gb/s", "-o", file}).code ==
          ExitCode::success);
  const Captured merged = test::payoff({"merge", file, "-o", folder.path("b.csv")});
  CHECK(merged.code == ExitCode::bad_input);
  CHECK_THAT(merged.err, ContainsSubstring("--csv FILE"));
  CHECK(folder.files() == std::vector<std::string>{"a.jsonl", "job.yaml"});
}

TEST_CASE("an unknown key of an axis is told once, and wrong values each") {
  const ScratchFolder folder;
  const Captured key = sweep_file(folder, {"--over", "node=8..64:x2", "--over", "mode=1,2"});
  CHECK(key.code == ExitCode::bad_input);
  CHECK(count_of("unknown key `node`", key.err) == 1);
  CHECK(count_of("unknown key `mode`", key.err) == 1);
  const Captured values = sweep_file(folder, {"--over", "cluster=nosuch,p3-8xlarge,neither"});
  CHECK(values.code == ExitCode::bad_input);
  CHECK(count_of("no cluster `nosuch`", values.err) == 1);
  CHECK(count_of("no cluster `neither`", values.err) == 1);
}

TEST_CASE("wrong numbers are told as they are where every job is read") {
  // With `--verdicts` no job shares anything: each value is read in a job of its own.
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> sweeps{
      {"nodes=4,0,8,16777216", "bandwidth=10 Gb/s,-1 Gb/s,20 Gb/s", "micro-batch=32,0,64"},
      {"bandwidth=10 Gb/s,20 Gb/s,10 GB", "bucket=25 MiB,0 B,5 MiB"},
      {"nodes=2,4,3", "dp=8,16,31"},
      {"micro-batch=8,16", "cluster=nosuch,p3-8xlarge", "nics=1,0"},
      {"nodes=1..70", "micro-batches=0..3"},
      {"bandwidth=10 Gb/s,20 Gb/s", "nodes=0..2"}};
  int mistaken = 0;
  for (const std::vector<std::string>& axes : sweeps) {
    std::vector<std::string> words;
    for (const std::string& axis : axes) {
      words.insert(words.end(), {"--over", axis});
    }
    words.emplace_back("--dry-run");
    const Captured shared = sweep_file(folder, words);
    words.emplace_back("--verdicts");
    const Captured read = sweep_file(folder, words);
    INFO(axes.front() << "\n" << shared.err << "\n" << read.err);
    CHECK(shared.code == read.code);
    if (read.code == ExitCode::bad_input) {
      CHECK(shared.err == read.err);
      ++mistaken;
    }
  }
  CHECK(mistaken >= 4);
}

TEST_CASE("a sample larger than the grid is the grid, and is told") {
  const ScratchFolder folder;
  const std::vector<std::string> axes{"--over", "bandwidth=10 Gb/s,20 Gb/s", "--over",
                                      "micro-batch=32,64"};
  const auto sampled = [&](const char* count) {
    std::vector<std::string> words = axes;
    words.insert(words.end(), {"--sample", count, "--seed", "3"});
    return sweep_file(folder, words);
  };
  const Captured more = sampled("100");
  CHECK(more.code == ExitCode::success);
  CHECK_THAT(more.err, ContainsSubstring("the axes have 4 combinations, fewer than `--sample`"));
  CHECK(std::count(more.out.begin(), more.out.end(), '\n') == 1 + 4);
  CHECK(test::besides_trust(sampled("4").err).empty());
}

TEST_CASE("a seed without a sample is a mistake, told beside the others") {
  const ScratchFolder folder;
  const Captured run = sweep_file(
      folder, {"--over", "nodes=1,2", "--over", "micro-batch=1,2,3", "--zip", "--seed", "2"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`--seed` needs --sample or --latin") &&
                          ContainsSubstring("the axis has 3 values, the first one 2"));
}

TEST_CASE("a series whose unit stands at its end alone is told which text says it of both") {
  const ScratchFolder folder;
  const Captured run = sweep_file(folder, {"--over", "bandwidth=10..100 Gb/s:x2"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`--over bandwidth` has no unit at its first end"));
  CHECK_THAT(run.err, ContainsSubstring("`10 Gb/s..100 Gb/s:x2` says it of both ends"));
}

TEST_CASE("a dry run lists the jobs of its shard, and of many the first and the last") {
  const ScratchFolder folder;
  const Captured few = sweep_file(
      folder,
      {"--over", "nodes=1,2", "--over", "bandwidth=8 Gb/s,9 Gb/s", "--dry-run", "--shard", "1/2"});
  INFO(few.out);
  CHECK(few.code == ExitCode::success);
  CHECK_THAT(few.out, ContainsSubstring("|   1 |             1 |                  9 Gb/s |"));
  CHECK_THAT(few.out, ContainsSubstring("|   3 |             2 |                  9 Gb/s |"));
  CHECK(few.out.find("8 Gb/s |") == std::string::npos);
  const Captured many = sweep_file(folder, {"--over", "nodes=1..100", "--dry-run"});
  CHECK_THAT(many.out, ContainsSubstring("|   0 |             1 |"));
  CHECK_THAT(many.out, ContainsSubstring("| ... |           ... |"));
  CHECK_THAT(many.out, ContainsSubstring("|  99 |           100 |"));
  CHECK(many.out.find("|  50 |") == std::string::npos);
  CHECK(folder.files() == std::vector<std::string>{"job.yaml"});
}

TEST_CASE("a sweep does not go on behind a line that is not that of its job") {
  const ScratchFolder folder;
  const std::vector<std::string> words{"--over", "nodes=1,2,4", "-o", folder.path("runs.jsonl")};
  REQUIRE(sweep_file(folder, words).code == ExitCode::success);
  std::string text = test::read_text(folder.path("runs.jsonl"));
  const std::size_t second = text.find("{\"job\":1,");
  REQUIRE(second != std::string::npos);
  const std::size_t third = text.find("{\"job\":2,");
  text = text.substr(0, second) + text.substr(third);  // as if a line had been cut out
  folder.write("runs.jsonl", text);
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  const Captured run = sweep_file(folder, again);
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("line 3 is not that of job 1"));
  CHECK(test::read_text(folder.path("runs.jsonl")) == text);
}
