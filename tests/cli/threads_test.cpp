// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// Commands that compute on several threads print the same bytes on 1, 2 and 16 of them. These are
// the tests of the commands that the thread sanitizer runs, which makes each a hundred times as
// long.

using namespace payoff;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using Words = std::vector<std::string>;

namespace {

constexpr std::size_t plans = 3;  // with the one that compresses nothing

const std::string job = std::string(test::small_job) + "compress: [\"powersgd:rank=4\", signsgd]\n";

// 3 x 4 jobs that share what they prepare, for each of the two ways to keep gradients.
constexpr std::size_t shared_jobs = 24;
const Words shared_axes{"--over", "nodes=1..4:x2",     "--over", "bandwidth=1 Gb/s..8 Gb/s:x2",
                        "--over", "gradient=fp16,fp32"};
// Less than there are threads, of what takes longer.
constexpr std::size_t few_jobs = 6;
const Words few_axes{"--over", "nodes=1..4:x2", "--over", "bandwidth=1 Gb/s,8 Gb/s"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What the words print on one thread; on two and on sixteen they must print, and say, the same.
std::string on_any_threads(const Words& words) {
  const Captured alone = test::payoff(joined(words, {"--threads", "1"}));
  INFO(alone.err);
  REQUIRE(alone.code == ExitCode::success);
  for (const char* threads : {"2", "16"}) {
    INFO(threads);
    const Captured several = test::payoff(joined(words, {"--threads", threads}));
    CHECK(several.code == alone.code);
    CHECK(several.out == alone.out);
    CHECK(several.err == alone.err);
  }
  return alone.out;
}

}  // namespace

TEST_CASE("a sweep writes the same bytes on 1, 2 and 16 threads, prepared together or one by one") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  const Words sweep = joined({"sweep", folder.path("job.yaml")}, shared_axes);
  const std::string shared = on_any_threads(sweep);
  // The question, and of every job every strategy.
  CHECK(lines_in(shared) == 1 + shared_jobs * plans);
  CHECK(on_any_threads(joined(sweep, {"--no-share"})) == shared);
}

TEST_CASE("sweeps of simulated steps and of verdicts write the same bytes on 1, 2 and 16 threads") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  const Words sweep = joined({"sweep", folder.path("job.yaml")}, few_axes);
  CHECK(lines_in(on_any_threads(joined(sweep, {"--engine", "sim"}))) == 1 + few_jobs * plans);
  CHECK(lines_in(on_any_threads(joined(sweep, {"--verdicts"}))) == 1 + few_jobs * plans);
}

TEST_CASE("a survey prints the same bytes on 1, 2 and 16 threads") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  const std::string csv =
      on_any_threads(joined({"survey", folder.path("job.yaml"), "--csv", "-"}, few_axes));
  // A line of names, and of every job every strategy that compresses.
  CHECK(lines_in(csv) == 1 + few_jobs * (plans - 1));
}

// Layouts are priced on all threads, and then every finalist is simulated.
TEST_CASE("a search finds the same on 1, 2 and 16 threads") {
  const std::string found = on_any_threads({"search",
                                            "--model",
                                            "gpt2",
                                            "--cluster",
                                            "p3-8xlarge",
                                            "--nodes",
                                            "2",
                                            "--precision",
                                            "fp16",
                                            "--sequence",
                                            "1024",
                                            "--software",
                                            "megatron-2020",
                                            "--micro-batch",
                                            "4",
                                            "--compress",
                                            "powersgd:rank=4",
                                            "--keep",
                                            "cp",
                                            "--keep",
                                            "schedule",
                                            "--finalists",
                                            "4"});
  CHECK(found.find("layout as options: ") != std::string::npos);
}
