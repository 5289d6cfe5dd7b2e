// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What is wrong with a sweep: every mistake once, where it was typed, in one run.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

std::size_t times(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

Captured sweep_of(const ScratchFolder& folder, const std::string& job,
                  std::vector<std::string> more) {
  folder.write("job.yaml", job);
  more.insert(more.begin(), {"sweep", folder.path("job.yaml")});
  return test::payoff(more);
}

Captured sweep_small(const ScratchFolder& folder, std::vector<std::string> more) {
  return sweep_of(folder, test::small_job, std::move(more));
}

std::size_t results_of(const Captured& run) { return times("\"status\":", run.out); }

}  // namespace

TEST_CASE("four mistakes on three axes are four errors, each under the word that was typed") {
  const ScratchFolder folder;
  const Captured run =
      sweep_small(folder, {"--over", "nodez=8..64:x2", "--over", "bandwidth=10..100:x2", "--over",
                           "compress=nonee,powersgd:rnk=4"});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(times("error: ", run.err) == 4);
  CHECK_THAT(run.err, ContainsSubstring("4 errors; nothing was run"));
  CHECK(times("--set", run.err) == 0);
  CHECK_THAT(run.err, ContainsSubstring(": nodez=8..64:x2\n  |              ^^^^^ did you mean"));
  CHECK_THAT(run.err, ContainsSubstring(": bandwidth=10..100:x2\n  |                        ^^"));
  CHECK_THAT(run.err, ContainsSubstring(": compress=nonee,powersgd:rnk=4\n"
                                        "  |                       ^^^^^\n"));
  CHECK_THAT(run.err, ContainsSubstring("powersgd has no parameter `rnk`"));
}

TEST_CASE("a mistake of some values of a series names them, one of all does not") {
  const ScratchFolder folder;
  // A node of p3-8xlarge has 4 GPUs, two nodes 8.
  const Captured some = sweep_small(folder, {"--over", "zero=1..6"});
  INFO(some.err);
  CHECK(times("error: ", some.err) == 1);
  CHECK_THAT(some.err, ContainsSubstring("= note: so are `4`, `5`, `6`"));
  const Captured all = sweep_small(folder, {"--over", "bandwidth=10..100:x2"});
  CHECK(times("error: ", all.err) == 1);
  CHECK_THAT(all.err, !ContainsSubstring("note: so"));
}

TEST_CASE("a fact of one combination is no mistake beside a wrong value") {
  // dp is 1 on one node with tp 4; a bare rate is wrong everywhere.
  const ScratchFolder folder;
  const Captured run =
      sweep_of(folder,
               "cluster: {profile: p3-8xlarge, nodes: 2}\nmodel: {profile: gpt2}\n"
               "layout: {micro_batch: 1}\ncompress: [fp16]\n",
               {"--over", "nodes=1,2", "--over", "tp=4,2", "--over", "bandwidth=10,20 Gb/s"});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(times("error: ", run.err) == 1);
  CHECK_THAT(run.err, ContainsSubstring("no unit"));
}

TEST_CASE("mistakes of series, engine and shard are told with those of keys and methods") {
  const ScratchFolder folder;
  const Captured run =
      sweep_small(folder, {"--over", "tp=1..x", "--over", "nodez=1,2", "--over", "compress=nonee",
                           "--engine", "analytcal", "--shard", "3/2"});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(times("error: ", run.err) == 5);
  for (const char* told :
       {"`--over tp` is not a whole number", "unknown key `nodez`", "no compression `nonee`",
        "`analytcal` is not an engine", "`--shard` is no I/N"}) {
    CHECK_THAT(run.err, ContainsSubstring(told));
  }
}

TEST_CASE("a sweep in more shards than there can be is told how many there can be") {
  const ScratchFolder folder;
  for (const std::string shard : {"0/1000001", "0/9223372036854775807", "0/99999999999999999999"}) {
    const Captured run = sweep_small(folder, {"--over", "nodes=1,2", "--shard", shard});
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("at most 1,000,000 shards"));
  }
}

TEST_CASE("an axis of clusters leaves dp open, and a method of one of them is its result alone") {
  // NCCL adds fp8 from Hopper on: a V100 cannot, an H100 can.
  const ScratchFolder folder;
  const Captured run =
      sweep_of(folder,
               "cluster: {profile: p3-8xlarge, nodes: 8}\nmodel: {profile: "
               "resnet-50}\nlayout: {dp: 32, micro_batch: 64}\n"
               "training: {precision: fp32}\n",
               {"--over", "cluster=p3-8xlarge,dgx-h100", "--over", "compress=fp8,fp16"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("note: dp is left open"));
  CHECK(results_of(run) == 2 * 3);
  CHECK(times("\"status\":\"impossible\"", run.out) == 1);
  CHECK(times("\"gpus\":64", run.out) == 3);  // 8 nodes of 8
  const std::size_t refused = run.out.find("\"status\":\"impossible\"");
  const std::string line = run.out.substr(run.out.rfind('\n', refused) + 1, 200);
  CHECK_THAT(line, ContainsSubstring("\"cluster\":\"p3-8xlarge\"") &&
                       ContainsSubstring("\"strategy\":\"fp8\"") && ContainsSubstring("hopper"));
}

TEST_CASE("a sweep writes as CSV what merge makes of its results") {
  const ScratchFolder folder;
  const std::vector<std::string> axes{"--over", "nodes=1,2,4", "--over", "compress=fp16"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), axes.begin(), axes.end());
    return sweep_small(folder, more);
  };
  const std::string log = folder.path("a.jsonl");
  const std::string csv = folder.path("a.csv");
  REQUIRE(with({"-o", log, "--csv", csv}).code == ExitCode::success);
  const std::string merged = test::payoff({"merge", log, "--csv", "-"}).out;
  CHECK(test::read_text(csv) == merged);
  CHECK(std::count(merged.begin(), merged.end(), '\n') == 1 + 3 * 2);
  CHECK(with({"--csv", "-"}).out == merged);
  REQUIRE(with({"--csv", folder.path("alone.csv")}).code == ExitCode::success);
  CHECK(test::read_text(folder.path("alone.csv")) == merged);

  const Captured again = with({"-o", folder.path("b.jsonl"), "--csv", csv});
  CHECK(again.code == ExitCode::bad_input);
  CHECK_THAT(again.err, ContainsSubstring("a.csv exists") && ContainsSubstring("remove it") &&
                            !ContainsSubstring("--resume"));
  const Captured nowhere = with({"-o", folder.path("b.jsonl"), "--csv", "/no/folder/x.csv"});
  CHECK(nowhere.code == ExitCode::failure);
  CHECK_THAT(nowhere.err, ContainsSubstring("/no/folder is no folder"));
  CHECK(std::ranges::count(folder.files(), "b.jsonl") == 0);

  // Half of the lines, and the table that a stopped sweep did not write.
  const std::string text = test::read_text(log);
  folder.write("half.jsonl", text.substr(0, text.size() / 2));
  REQUIRE(
      with({"-o", folder.path("half.jsonl"), "--csv", folder.path("half.csv"), "--resume"}).code ==
      ExitCode::success);
  CHECK(test::read_text(folder.path("half.csv")) == merged);
  CHECK(with({"-o", log, "--csv", csv, "--resume"}).code == ExitCode::success);
  folder.write("other.csv", "mine\n");
  const Captured other = with({"-o", log, "--csv", folder.path("other.csv"), "--resume"});
  CHECK(other.code == ExitCode::failure);
  CHECK_THAT(other.err, ContainsSubstring("exists and has other rows"));
  CHECK(test::read_text(folder.path("other.csv")) == "mine\n");
}

TEST_CASE("a shard of a sweep writes a CSV file of its own") {
  const ScratchFolder folder;
  REQUIRE(sweep_small(folder,
                      {"--over", "nodes=1,2,4", "--csv", folder.path("a.csv"), "--shard", "1/2"})
              .code == ExitCode::success);
  CHECK(folder.files() == std::vector<std::string>{"a.1-of-2.csv", "job.yaml"});
}

TEST_CASE("a variable of a scheduler that tells no part of the jobs is an error that names it") {
  const ScratchFolder folder;
  const auto with = [&](const std::vector<std::pair<const char*, const char*>>& variables,
                        std::vector<std::string> more = {}) {
    for (const auto& [name, value] : variables) {
      setenv(name, value, 1);
    }
    more.insert(more.begin(), {"--over", "nodes=1,2"});
    const Captured run = sweep_small(folder, more);
    for (const auto& [name, value] : variables) {
      unsetenv(name);
    }
    return run;
  };
  const auto refuses = [](const Captured& run, const char* what) {
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, ContainsSubstring(what) && ContainsSubstring("`--shard 0/1`"));
  };
  refuses(with({{"SLURM_ARRAY_TASK_ID", "x"}}), "SLURM_ARRAY_TASK_ID is `x`");
  refuses(with({{"SLURM_ARRAY_TASK_ID", "3"}}),
          "SLURM_ARRAY_TASK_ID is `3`, and SLURM_ARRAY_TASK_COUNT is not set");
  refuses(with({{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}),
          "SLURM_ARRAY_TASK_ID is `9`, which is none of 4 tasks from 0 in steps of 1");
  refuses(with({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
          "OMPI_COMM_WORLD_RANK is `5`, beyond the 2 of OMPI_COMM_WORLD_SIZE");
  refuses(with({{"PMI_RANK", "0"}, {"PMI_SIZE", "-1"}}), "PMI_SIZE is `-1`");
  CHECK(results_of(with({{"SLURM_ARRAY_TASK_ID", "x"}}, {"--shard", "0/1"})) == 2);
  CHECK(results_of(with({{"SLURM_ARRAY_TASK_ID", ""}})) == 2);
}

TEST_CASE("an empty experiment is told as such, whatever the axes are") {
  const ScratchFolder folder;
  const Captured run = sweep_of(folder, "", {"--over", "nodes=1,2"});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(times("error: ", run.err) == 1);
  CHECK_THAT(run.err,
             ContainsSubstring("the document is empty") && ContainsSubstring("job.yaml:1:1"));
}

TEST_CASE("a result where an experiment belongs is one error that says what it is") {
  const ScratchFolder folder;
  folder.write("job.yaml", test::small_job);
  const std::string result = folder.path("result.json");
  const std::string log = folder.path("runs.jsonl");
  REQUIRE(test::payoff({"predict", folder.path("job.yaml"), "--json", result}).code ==
          ExitCode::success);
  REQUIRE(sweep_small(folder, {"--over", "nodes=1,2", "-o", log}).code == ExitCode::success);
  const auto is_told = [](const std::vector<std::string>& words, const char* what) {
    const Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(times("error: ", run.err) == 1);
    CHECK_THAT(run.err, ContainsSubstring(what));
  };
  is_told({"plot", result, "-o", folder.path("x.png")}, "is a result of `payoff predict`, not an");
  is_told({"sweep", result, "--over", "nodes=1,2"}, "is a result of `payoff predict`, not an");
  is_told({"predict", log}, "is a result of `payoff sweep`, not an experiment");
  is_told({"check", result}, "is a result of `payoff predict`, not an input");
}

TEST_CASE("merge tells every file that is no shard, and every shard that is missing") {
  const ScratchFolder folder;
  const Captured run =
      test::payoff({"merge", folder.path("a.jsonl"), folder.path("b.jsonl"), "--csv", "-"});
  CHECK(run.code == ExitCode::failure);
  CHECK_THAT(run.err,
             ContainsSubstring("cannot read `" + folder.path("a.jsonl") + "`: No such") &&
                 ContainsSubstring("cannot read `" + folder.path("b.jsonl") + "`: No such"));
  REQUIRE(
      sweep_small(folder, {"--over", "nodes=1,2,4", "-o", folder.path("a.jsonl"), "--shard", "1/3"})
          .code == ExitCode::success);
  const Captured missing = test::payoff({"merge", folder.path("a.1-of-3.jsonl"), "--csv", "-"});
  CHECK(missing.code == ExitCode::bad_input);
  CHECK_THAT(missing.err, ContainsSubstring("shard 0 of 3 is missing") &&
                              ContainsSubstring("shard 2 of 3 is missing"));
  // One that holds something else beside one that is not there: both, and the mistake decides.
  folder.write("notes.jsonl", "mine\n");
  const Captured both =
      test::payoff({"merge", folder.path("notes.jsonl"), folder.path("b.jsonl"), "--csv", "-"});
  CHECK(both.code == ExitCode::bad_input);
  CHECK_THAT(both.err, ContainsSubstring("notes.jsonl: is no result of `payoff sweep`") &&
                           ContainsSubstring("cannot read `" + folder.path("b.jsonl")));
}

TEST_CASE("results that are not there are no mistake in them, whoever reads them") {
  const ScratchFolder folder;
  const std::string none = folder.path("none.jsonl");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plot", none, "--csv", "-"},
        {"merge", none, "--csv", "-"},
        {"merge", none, none, "--csv", "-"},
        {"rerun", folder.path("none.json")},
        {"report", folder.path("none.json"), "-o", folder.path("r.html")},
        {"validate", folder.path("none.yaml")}}) {
    const Captured run = test::payoff(words);
    CAPTURE(words.front(), run.err);
    CHECK(run.code == ExitCode::failure);
    CHECK_THAT(run.err, ContainsSubstring("none"));
  }
}

TEST_CASE("merge and plot name file and line of every result that is broken") {
  const ScratchFolder folder;
  for (const char* shard : {"0/2", "1/2"}) {
    REQUIRE(sweep_small(folder,
                        {"--over", "nodes=1,2,4,8", "-o", folder.path("a.jsonl"), "--shard", shard})
                .code == ExitCode::success);
  }
  const std::string first = folder.path("a.0-of-2.jsonl");
  const std::string second = folder.path("a.1-of-2.jsonl");
  const std::string whole = test::read_text(first);
  for (const std::string& name : {first, second}) {  // the third line of both
    std::string text = test::read_text(name);
    text.replace(text.find("\"strategy\"", text.find('\n', text.find('\n') + 1)), 1, " ");
    folder.write(name.substr(name.rfind('/') + 1), text);
  }
  const Captured merged = test::payoff({"merge", first, second, "-o", folder.path("all.jsonl")});
  CHECK(merged.code == ExitCode::bad_input);
  CHECK_THAT(merged.err, ContainsSubstring(first + ":3: is no result of `payoff sweep`") &&
                             ContainsSubstring(second + ":3: is no result of `payoff sweep`"));
  const Captured drawn = test::payoff({"plot", first, "--csv", "-"});
  CHECK(drawn.code == ExitCode::bad_input);
  CHECK_THAT(drawn.err, ContainsSubstring(first + ":3: is no result"));
  folder.write("one.jsonl", whole.substr(0, whole.find('\n') + 1) + "{\"job\":0,\n");
  const Captured csv = test::payoff({"plot", folder.path("one.jsonl"), "--csv", "-"});
  CHECK_THAT(csv.err, ContainsSubstring(folder.path("one.jsonl") + ":2: is no result"));
}

TEST_CASE("a grid, and results of another command, are told for what they are") {
  const ScratchFolder folder;
  const std::string grid = PAYOFF_SOURCE_DIR "/examples/11-survey/grid.yaml";
  for (const char* command : {"plot", "report", "predict"}) {
    std::vector<std::string> words{command, grid};
    if (std::string(command) != "predict") {
      words.insert(words.end(),
                   {"-o", folder.path(command == std::string("plot") ? "x.png" : "x.html")});
    }
    const Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("this is a grid of experiments, not one experiment") &&
                            ContainsSubstring("payoff survey") &&
                            !ContainsSubstring("unknown key"));
  }
  folder.write("survey.jsonl", "{\"schema\":1,\"kind\":\"survey\",\"jobs\":4}\n");
  const Captured drawn = test::payoff({"plot", folder.path("survey.jsonl"), "--csv", "-"});
  CHECK(drawn.code == ExitCode::bad_input);
  CHECK_THAT(drawn.err, ContainsSubstring("is a result of `payoff survey`, not of `payoff sweep`"));
}

TEST_CASE("grids of surveys and fitted laws are checked as what they are") {
  const ScratchFolder folder;
  const std::string grid = PAYOFF_SOURCE_DIR "/examples/11-survey/grid.yaml";
  const Captured good =
      test::payoff({"check", grid, PAYOFF_SOURCE_DIR "/profiles/fitted/codecs.yaml"});
  INFO(good.err);
  CHECK(good.code == ExitCode::success);
  // 3 models, 3 GPUs, 5 rates, 3 sizes.
  CHECK_THAT(good.out, ContainsSubstring("grid.yaml: survey, no mistakes\n135 jobs of 7 "));
  CHECK_THAT(good.out, ContainsSubstring("codecs.yaml: fitted laws, no mistakes\n"));
  folder.write("grid.yaml", std::string(test::small_job) +
                                "over: {model: [resnet-50, resnet-51], bandwdth: [1 Gb/s]}\n");
  const Captured bad = test::payoff({"check", folder.path("grid.yaml")});
  CHECK(bad.code == ExitCode::bad_input);
  CHECK_THAT(bad.err, ContainsSubstring("`resnet-51`") &&
                          ContainsSubstring("unknown key `bandwdth`") &&
                          ContainsSubstring("2 errors"));
}

TEST_CASE("a sweep has no stdout for -o, no blanks in a shard, and says that nothing was left") {
  const ScratchFolder folder;
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--over", "nodes=1,2,4", "--over", "compress=fp16"});
    return sweep_small(folder, more);
  };
  const Captured dash = with({"-o", "-"});
  CHECK(dash.code == ExitCode::bad_input);
  CHECK_THAT(dash.err, ContainsSubstring("without -o the results are printed"));
  CHECK(with({"--shard", "1/ 3"}).code == ExitCode::bad_input);
  CHECK(with({"--shard", "1/3"}).code == ExitCode::success);
  const std::string log = folder.path("a.jsonl");
  REQUIRE(with({"-o", log}).code == ExitCode::success);
  const Captured again = with({"-o", log, "--resume"});
  CHECK(again.code == ExitCode::success);
  CHECK_THAT(again.err, ContainsSubstring("nothing was left") && ContainsSubstring("all 3 jobs"));
  CHECK_THAT(with({"--sample", "500"}).err, !ContainsSubstring("random order"));
}

TEST_CASE("a sweep of a grid of a survey says who runs it") {
  const Captured run =
      test::payoff({"sweep", PAYOFF_SOURCE_DIR "/examples/11-survey/grid.yaml", "--dry-run"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`payoff survey` runs it") &&
                          ContainsSubstring("--over KEY=VALUES") &&
                          !ContainsSubstring("unknown key"));
}
