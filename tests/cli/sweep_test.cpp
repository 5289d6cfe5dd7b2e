// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::predicted;
using payoff::test::ScratchFolder;
using payoff::test::small_experiment;

namespace {

Captured sweep(std::vector<std::string> more) {
  std::vector<std::string> words = small_experiment(std::move(more));
  words.insert(words.begin(), "sweep");
  return test::payoff(words);
}

// The small experiment without the options that an axis stands for.
Captured sweep_nodes(std::vector<std::string> more) {
  std::vector<std::string> words{
      "sweep",       "--model",     "gpt2",
      "--cluster",   "p3-8xlarge",  "--micro-batch",
      "4",           "--precision", "fp16",
      "--sequence",  "1024",        "--over",
      "nodes=1,2,4", "--over",      "compress=none,powersgd:rank=4,topk:ratio=0.01"};
  words.insert(words.end(), more.begin(), more.end());
  return test::payoff(words);
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    lines.push_back(json::parse(text.substr(start, end - start)));
    start = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("a line of a sweep is what predict says of that job") {
  const Captured run = sweep_nodes({});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::vector<json> lines = lines_of(run.out);
  REQUIRE(lines.size() == 1 + 3 * 3);
  CHECK(lines[0]["kind"] == "sweep");
  CHECK(lines[0]["jobs"] == 3);
  const json alone = predicted();  // two nodes
  for (std::size_t plan = 0; plan < 3; ++plan) {
    const json& line = lines[1 + 3 + plan];
    CHECK(line["nodes"] == 2);
    CHECK(line["gpus"] == 8);
    CHECK(line["status"] == "fits");
    CHECK(line["strategy"] == alone["plans"][plan]["label"]);
    CHECK(line["step_seconds"] == alone["plans"][plan]["step_seconds"]);
    CHECK_THAT(
        line["speedup"].get<double>(),
        WithinRel(alone["plans"][plan]["against_uncompressed"]["speedup"].get<double>(), 1e-9));
  }
}

TEST_CASE("values with units are numbers in SI under a key that says so") {
  const Captured run = sweep({"--over", "cluster.inter.bandwidth=10 Gb/s..40 Gb/s:x2"});
  INFO(run.err);
  const std::vector<json> lines = lines_of(run.out);
  REQUIRE(lines.size() == 1 + 3 * 3);
  CHECK(lines[1]["cluster.inter.bandwidth_bytes_per_second"] == 1.25e9);
  CHECK(lines[9]["cluster.inter.bandwidth_bytes_per_second"] == 5e9);
}

TEST_CASE("a combination that is no job is a result with its reason, for that strategy alone") {
  // On one node tp 4 leaves one replica: nothing is sent that could be compressed.
  const Captured run = sweep_nodes({"--over", "tp=1,4"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::vector<json> lines = lines_of(run.out);
  REQUIRE(lines.size() == 1 + 3 * 2 * 3);
  CHECK(lines[1 + 3]["status"] == "fits");
  CHECK(lines[1 + 3]["tp"] == 4);
  for (const std::size_t compressed : {1U, 2U}) {
    CHECK(lines[1 + 3 + compressed]["status"] == "impossible");
    CHECK_THAT(lines[1 + 3 + compressed]["reason"].get<std::string>(),
               ContainsSubstring("dp is 1"));
  }
  CHECK(lines[1 + 3 * 3 + 1]["status"] == "fits");  // two nodes, tp 4
}

TEST_CASE("a dp of the file is left open where the number of nodes varies") {
  const ScratchFolder folder;
  folder.write("job.yaml", std::string(test::small_job) + "compress: [powersgd:rank=4]\n");
  const Captured run =
      test::payoff({"sweep", folder.path("job.yaml"), "--dp", "8", "--over", "nodes=1,2,4"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("dp is left open"));
  const std::vector<json> lines = lines_of(run.out);
  REQUIRE(lines.size() == 1 + 3 * 2);
  CHECK(lines[1]["gpus"] == 4);
  CHECK(lines[5]["gpus"] == 16);
}

TEST_CASE("a value that no job can have, an unknown key and an empty axis are mistakes") {
  CHECK(sweep({"--over", "tp=1,5"}).code == ExitCode::bad_input);  // of 12 heads
  CHECK_THAT(sweep({"--over", "nodse=1,2"}).err, ContainsSubstring("nodse"));
  const Captured value = sweep({"--over", "cluster.inter.bandwidth=10 Gb/s,fast"});
  CHECK(value.code == ExitCode::bad_input);
  CHECK_THAT(value.err, ContainsSubstring("fast"));
  CHECK(sweep({"--over", "bandwidth="}).code == ExitCode::bad_input);
  CHECK_THAT(sweep({"--over", "bandwidth=8..2:x2"}).err, ContainsSubstring("--over"));
  CHECK(sweep({}).code == ExitCode::bad_input);
  CHECK_THAT(sweep({"--over", "nodes=1,2"}).err, ContainsSubstring("given twice"));
  CHECK(sweep({"--over", "bandwidth=1 Gb/s,2 Gb/s", "--shard", "3/2"}).code == ExitCode::bad_input);
}

TEST_CASE("an interrupted sweep goes on where it was, to the same bytes") {
  const ScratchFolder folder;
  const std::string whole = folder.path("whole.jsonl");
  REQUIRE(sweep_nodes({"-o", whole}).code == ExitCode::success);
  const std::string text = test::read_text(whole);
  const std::string part = folder.path("part.jsonl");
  // Cut anywhere: in the first line, between lines, within a line, within a job.
  for (std::size_t cut = 0; cut <= text.size(); cut += 97) {
    folder.write("part.jsonl", text.substr(0, cut));
    const Captured run = sweep_nodes({"-o", part, "--resume"});
    INFO(run.err);
    REQUIRE(run.code == ExitCode::success);
    CHECK(test::read_text(part) == text);
  }
}

TEST_CASE("results are neither written over nor gone on with for another question") {
  const ScratchFolder folder;
  const std::string file = folder.path("runs.jsonl");
  REQUIRE(sweep_nodes({"-o", file}).code == ExitCode::success);
  const std::string text = test::read_text(file);
  CHECK(sweep_nodes({"-o", file}).code == ExitCode::bad_input);
  const Captured other = sweep_nodes({"-o", file, "--resume", "--recompute", "full"});
  CHECK(other.code == ExitCode::bad_input);
  CHECK_THAT(other.err, ContainsSubstring("other inputs") && ContainsSubstring("nothing was run"));
  CHECK(test::read_text(file) == text);
}

TEST_CASE("a file that is no sweep is never gone on with, and is left as it is") {
  const ScratchFolder folder;
  for (const char* text :
       {"precious", "{}", "precious\n", "{\"kind\":1}\n", "{\"kind\":\"sweep\",\"shard\":{}}\n"}) {
    folder.write("notes.txt", text);
    const Captured run = sweep_nodes({"-o", folder.path("notes.txt"), "--resume"});
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("is no result of `payoff sweep`"));
    CHECK(test::read_text(folder.path("notes.txt")) == text);
    CHECK(test::payoff({"merge", folder.path("notes.txt"), "--csv", "-"}).code ==
          ExitCode::bad_input);
  }
}

TEST_CASE("`none` among the methods is the uncompressed job, and moves no other to its place") {
  const ScratchFolder folder;
  folder.write("job.yaml", std::string(test::small_job) + "compress: [none, fp16, fp8]\n");
  // V100 has no fp8.
  const Captured run =
      test::payoff({"sweep", folder.path("job.yaml"), "--over", "cluster=p3-8xlarge,dgx-h100"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::vector<json> lines = lines_of(run.out);
  REQUIRE(lines.size() == 1 + 2 * 3);
  CHECK(lines[1]["status"] == "fits");
  CHECK(lines[2]["status"] == "fits");
  CHECK(lines[2]["strategy"] == "fp16");
  CHECK(lines[3]["status"] == "impossible");
  CHECK_THAT(lines[3]["reason"].get<std::string>(), !ContainsSubstring("another name"));
}

TEST_CASE("a value is no mistake because the first combinations with it are no jobs") {
  // 352 samples are 32 ranks of 11: a job with micro-batch 11 alone.
  const ScratchFolder folder;
  folder.write("job.yaml",
               "cluster: {profile: p3-8xlarge, nodes: 8}\nmodel: {profile: resnet-50}\n"
               "layout: {dp: 32}\ntraining: {precision: fp32}\ncompress: [fp16]\n");
  const Captured run = test::payoff({"sweep", folder.path("job.yaml"), "--over",
                                     "global-batch=352,1920", "--over", "micro-batch=2..31"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const std::vector<json> lines = lines_of(run.out);
  CHECK(lines[1 + 2 * 9]["micro-batch"] == 11);
  CHECK(lines[1 + 2 * 9]["status"] == "fits");
  CHECK(lines[1]["status"] == "impossible");
}

TEST_CASE("shards joined are the sweep in one piece") {
  const ScratchFolder folder;
  REQUIRE(sweep_nodes({"-o", folder.path("whole.jsonl")}).code == ExitCode::success);
  for (const char* shard : {"0/2", "1/2"}) {
    REQUIRE(sweep_nodes({"-o", folder.path("part.jsonl"), "--shard", shard}).code ==
            ExitCode::success);
  }
  const std::string first = folder.path("part.0-of-2.jsonl");
  const std::string second = folder.path("part.1-of-2.jsonl");
  const std::string joined = folder.path("joined.jsonl");
  REQUIRE(test::payoff({"merge", second, first, "-o", joined}).code == ExitCode::success);
  CHECK(test::read_text(joined) == test::read_text(folder.path("whole.jsonl")));
  CHECK_THAT(test::payoff({"merge", first, "-o", joined}).err, ContainsSubstring("missing"));
  CHECK_THAT(test::payoff({"merge", first, first, "-o", joined}).err,
             ContainsSubstring("same shard"));
  CHECK(test::read_text(joined) == test::read_text(folder.path("whole.jsonl")));
}

TEST_CASE("a header that counts beyond all numbers, or without strategies, is no whole sweep") {
  const ScratchFolder folder;
  const std::string begin = "{\"kind\":\"sweep\",\"jobs\":9223372036854775808,\"strategies\":";
  const std::string end = ",\"shard\":{\"index\":0,\"of\":1}}\n";
  folder.write("many.jsonl", begin + R"(["none","fp16"])" + end);  // 2^63 jobs of two: 2^64 lines
  folder.write("none.jsonl", begin + "[]" + end);
  const auto merged = [&](const char* file) {
    return test::payoff({"merge", folder.path(file), "-o", folder.path("joined.jsonl")});
  };
  const Captured many = merged("many.jsonl");
  CHECK(many.code == ExitCode::bad_input);
  CHECK_THAT(many.err, ContainsSubstring("has 1 of"));
  const Captured none = merged("none.jsonl");
  CHECK(none.code == ExitCode::bad_input);
  CHECK_THAT(none.err, ContainsSubstring("is no result of `payoff sweep`"));
}

TEST_CASE("the place in a job array and among tasks says which shard this is") {
  const ScratchFolder folder;
  setenv("SLURM_ARRAY_TASK_ID", "5", 1);
  setenv("SLURM_ARRAY_TASK_MIN", "1", 1);
  setenv("SLURM_ARRAY_TASK_STEP", "2", 1);
  setenv("SLURM_ARRAY_TASK_COUNT", "3", 1);
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  const Captured run = sweep_nodes({"-o", folder.path("part.jsonl")});
  for (const char* name :
       {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP",
        "SLURM_ARRAY_TASK_COUNT", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}) {
    unsetenv(name);
  }
  REQUIRE(run.code == ExitCode::success);
  // The third task of the array, the second process in it: 2 x 2 + 1 of 3 x 2.
  CHECK(folder.files() == std::vector<std::string>{"part.5-of-6.jsonl"});
}

TEST_CASE("a sweep as CSV has a line for each result") {
  const ScratchFolder folder;
  REQUIRE(sweep_nodes({"-o", folder.path("runs.jsonl")}).code == ExitCode::success);
  const Captured csv = test::payoff({"merge", folder.path("runs.jsonl"), "--csv", "-"});
  REQUIRE(csv.code == ExitCode::success);
  CHECK(csv.out.starts_with("job,nodes,gpus,strategy,status,reason,step_seconds,"));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 1 + 9);
}

TEST_CASE("threads change nothing in the bytes of a sweep") {
  CHECK(sweep_nodes({"--threads", "1"}).out == sweep_nodes({"--threads", "3"}).out);
}

TEST_CASE("a dry run says how many jobs there are and writes nothing") {
  const ScratchFolder folder;
  const Captured run = sweep_nodes({"--dry-run", "-o", folder.path("runs.jsonl")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("3 jobs of 3 strategies: 9 results"));
  CHECK_THAT(run.err, ContainsSubstring("on one core"));
  CHECK(folder.files().empty());
}

TEST_CASE("results without a prediction are counted at the end, with their reasons") {
  // As above: on one node tp 4 leaves nothing to compress.
  const Captured run = sweep_nodes({"--over", "tp=1,4"});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("warning: 2 of the 18 results have no prediction") &&
                          ContainsSubstring("note: 1 of them: `compress`: dp is 1"));
  CHECK(test::besides_trust(sweep_nodes({"--engine", "sim"}).err).empty());
}

TEST_CASE("a sweep of simulations says once why jobs do not fold, and every result of them does") {
  const Captured run = sweep({"--engine", "sim", "--over", "cluster.jitter=0,0.01,0.02", "--set",
                              "cluster.slow_gpus=[{gpu: 1, slowdown: 1.5}]"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  int apart = 0;
  for (const json& line : lines_of(run.out)) {
    if (line.contains("status")) {
      // One slow GPU of eight leaves others that are alike; jitter leaves none.
      const bool jitter = line["cluster.jitter"] != 0;
      CHECK(line["not_folded"].is_null() == !jitter);
      apart += jitter ? 1 : 0;
    }
  }
  CHECK(apart == 2 * 3);  // jobs and strategies
  CHECK_THAT(run.err,
             ContainsSubstring("note: of 3 jobs 2 ran every rank by itself: jitter and slow GPUs"));
  CHECK(run.err.find("by itself") == run.err.rfind("by itself"));
  const Captured analytical = sweep({"--over", "cluster.jitter=0.01"});
  CHECK_THAT(analytical.out, !ContainsSubstring("not_folded"));
}

TEST_CASE("a sweep of simulations is announced where it is long, and refuses jobs of many events") {
  const Captured limited = sweep_nodes({"--engine", "sim", "--event-limit", "5"});
  CHECK(limited.code == ExitCode::failure);
  for (const json& line : lines_of(limited.out)) {
    if (line.contains("status")) {
      CHECK(line["status"] == "impossible");
      CHECK_THAT(line["reason"].get<std::string>(), ContainsSubstring("events, more than 5"));
    }
  }
  // 3 numbers of nodes, 3 strategies: the reasons differ by their numbers alone.
  CHECK_THAT(limited.err, ContainsSubstring("error: none of the 9 results has a prediction") &&
                              ContainsSubstring("9 of them: the simulation has ") &&
                              ContainsSubstring("1 error; the results were written"));
  const Captured analytical = sweep_nodes({"--event-limit", "5"});
  CHECK(analytical.code == ExitCode::bad_input);
  CHECK_THAT(analytical.err, ContainsSubstring("`--event-limit` needs --engine sim"));
  // 2 jobs, 3 strategies, 30,000 micro-batches of more than 24 events.
  const Captured large =
      sweep({"--micro-batches", "30000", "--engine", "sim", "--over", "bandwidth=10 Gb/s,20 Gb/s"});
  CHECK_THAT(large.err, ContainsSubstring("note: simulating up to ") &&
                            ContainsSubstring("Ctrl-C ends it after the jobs"));
}
