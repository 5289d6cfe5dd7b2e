// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using payoff::test::simulate;

// What `payoff simulate` refuses, at the place of what makes it so.

TEST_CASE("a simulation of too many events is refused with the number and advice") {
  const Captured run = test::payoff(simulate({"--event-limit", "5"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("events, more than 5"));
  CHECK_THAT(run.err, ContainsSubstring("--event-limit"));
}

TEST_CASE("mistakes that concern some strategies name these, and the others are not named") {
  const Captured run = test::payoff(simulate({"--event-limit", "5"}));
  CHECK_THAT(run.err, ContainsSubstring("= note: strategies: uncompressed\n"));
  CHECK_THAT(run.err, ContainsSubstring("= note: strategies: topk:ratio=0.01\n"));
  CHECK_THAT(run.err, !ContainsSubstring("none: "));
}

TEST_CASE("a step beyond the clock is refused by every command that simulates") {
  // 175e9 parameters over 1 Kb/s: 2 x 350 GB of gradients take more than 106 days.
  const std::vector<std::string> job{"--model",     "gpt3-175b", "--cluster",     "p3-8xlarge",
                                     "--nodes",     "2",         "--bandwidth",   "1 Kb/s",
                                     "--precision", "fp16",      "--micro-batch", "1"};
  std::vector<std::string> words{"simulate"};
  if (GENERATE(false, true)) {
    words = {"predict", "--engine", "sim"};
  }
  words.insert(words.end(), job.begin(), job.end());
  const Captured run = test::payoff(words);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("error: `cluster.inter.bandwidth`: the simulated time "
                                        "passes the end of the clock") &&
                          ContainsSubstring(": 1 Kb/s\n"));
}

TEST_CASE("a timeline that no disk takes is refused before the first event") {
  const ScratchFolder folder;
  // 96 layers of more than ten tasks, two million times over: half a terabyte.
  if (std::filesystem::space(folder.path("")).available > 400'000'000'000U) {
    return;
  }
  const Captured run =
      test::payoff({"simulate", "--model", "gpt3-175b", "--cluster", "dgx-a100", "--tp", "8",
                    "--micro-batches", "1000000", "--micro-batch", "1", "--event-limit",
                    "1000000000000", "--trace", folder.path("step.json")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("the timeline would take about"));
  CHECK(folder.files().empty());
}

TEST_CASE("a group larger than the cluster, and a link without bandwidth, are refused") {
  const Captured large = test::payoff(simulate({"--dp", "64"}));
  CHECK(large.code == ExitCode::bad_input);
  CHECK_THAT(large.err, ContainsSubstring("64"));
  const Captured idle = test::payoff(simulate({"--bandwidth", "0 Gb/s"}));
  CHECK(idle.code == ExitCode::bad_input);
}

// What is not written has no place: the first option that happens to be in its section is not it.
TEST_CASE("a limit is told at the value that passes it, or at none") {
  const std::vector<std::string> job{
      "simulate", "--model", "gpt2",          "--cluster", "p3-8xlarge",    "--nodes", "2",
      "--tp",     "4",       "--event-limit", "5",         "--micro-batch", "2"};
  const auto told = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = job;
    words.insert(words.end(), more.begin(), more.end());
    const Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("raise --event-limit"));
    return run.err;
  };
  CHECK_THAT(told({"--micro-batches", "8"}), ContainsSubstring("error: `layout.micro_batches`: ") &&
                                                 ContainsSubstring("--> argument 15: 8") &&
                                                 ContainsSubstring("simulate fewer micro-batches"));
  CHECK_THAT(told({"--global-batch", "32"}), ContainsSubstring("error: `layout.micro_batches`: ") &&
                                                 ContainsSubstring("--> argument 15: 32"));
  // One micro-batch: there are no fewer, and the model is what has so many events.
  CHECK_THAT(told({}), ContainsSubstring("error: `model`: ") &&
                           ContainsSubstring("--> argument 3: gpt2") &&
                           ContainsSubstring("simulate fewer layers of the model") &&
                           !ContainsSubstring("micro-batches"));
  CHECK_THAT(told({"--level", "steps"}), ContainsSubstring("leave `--level steps` away"));
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);
  const Captured file = test::payoff({"simulate", folder.path("job.yaml"), "--event-limit", "5"});
  CHECK_THAT(file.err, ContainsSubstring("job.yaml:"));
}

TEST_CASE("an unknown strategy is answered with the nearest one") {
  const Captured run = test::payoff(simulate({"--plan", "nome"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("did you mean `none`?"));
}

TEST_CASE("a run that meets the end of the clock is refused under the key that makes it so slow") {
  const ScratchFolder folder;
  // 250 MB of gradients at 10 Gb/s / 1000 (uplinks) / 1000000 (degraded): 1.25 B/s.
  folder.write("slow.yaml",
               "topology: slow\n"
               "server: {gpus: 4, fabric: {kind: switch, bandwidth: 150 GB/s}, "
               "nics: {count: 1, bandwidth: 10 Gb/s}}\n"
               "servers: 2\n"
               "network: {kind: fat_tree, servers_per_leaf: 1, spines: 1, oversubscription: 1000}\n"
               "degraded: [{link: [leaf0, spine0], ratio: 0.000001}]\n");
  const std::vector<std::string> job{
      "--model",       "gpt2", "--cluster",   "p3-8xlarge",
      "--nodes",       "2",    "--precision", "fp16",
      "--micro-batch", "1",    "--set",       "cluster.topology=" + folder.path("slow.yaml")};
  // Known before the run where messages are flows, met on the way where they are sends.
  for (std::vector<std::string> words : {std::vector<std::string>{"simulate"},
                                         {"predict", "--engine", "sim"},
                                         {"simulate", "--level", "steps"}}) {
    words.insert(words.end(), job.begin(), job.end());
    const Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err,
               ContainsSubstring("`cluster.topology`: the simulated time passes the end of "
                                 "the clock, 106 days") &&
                   ContainsSubstring("leaf0") && ContainsSubstring("--> argument"));
    const bool met = words.size() > 2 && words[2] == "steps";
    CHECK_THAT(run.err,
               ContainsSubstring(met ? "; stopped, and nothing was written" : "; nothing was run"));
  }
}

TEST_CASE("options of a simulation are checked beside its experiment") {
  const ScratchFolder folder;
  const std::string trace = folder.path("none/step.json");
  const Captured both =
      test::payoff(simulate({"--bucket", "25", "--level", "step", "--trace", trace}));
  CHECK(both.code == ExitCode::bad_input);
  CHECK_THAT(both.err, ContainsSubstring("`training.bucket` has no unit") &&
                           ContainsSubstring("did you mean `steps`?") &&
                           ContainsSubstring("`--trace`: there is no folder `") &&
                           ContainsSubstring("3 errors"));
  const Captured options =
      test::payoff(simulate({"--plan", "nome", "--level", "step", "--trace", trace}));
  CHECK(options.code == ExitCode::bad_input);
  CHECK_THAT(options.err,
             ContainsSubstring("did you mean `none`?") && ContainsSubstring("3 errors"));
}

TEST_CASE("a timeline needs the name of a file") {
  const Captured run = test::payoff(simulate({"--trace", "-"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("`--trace` needs the name of a file") &&
                          ContainsSubstring("--trace step.json"));
  CHECK_FALSE(std::filesystem::exists("-"));
}

TEST_CASE("more micro-batches than are modelled are refused with their number") {
  const Captured run = test::payoff({"simulate", "--model", "gpt3-175b", "--cluster", "selene",
                                     "--nodes", "128", "--tp", "8", "--pp", "8", "--dp", "16",
                                     "--micro-batch", "1", "--global-batch", "1600000000"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("100000000 micro-batches a step; at most 1048576") &&
                          ContainsSubstring("a larger micro_batch needs fewer"));
}
