// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// `--observed FILE` where the file is of nccl-tests.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::small_experiment;

namespace {

struct Row {
  double bytes{};
  double us{};
  int wrong{};
};

// The model's own times for eight ranks on the nodes of the experiment.
std::vector<Row> own_prices(double factor) {
  std::vector<Row> rows;
  const json result = test::json_of({"collective", "all_reduce", "--cluster", "p3-8xlarge",
                                     "--nodes", "2", "--sizes", "4KiB..256MiB:x4"});
  for (const json& row : result["rows"]) {
    rows.push_back(
        {row["size_bytes"].get<double>(), factor * row["time_seconds"].get<double>() * 1e6});
  }
  return rows;
}

std::string devices(int nodes, int gpus) {
  std::string text = "# nThread 1 nGpus 1 minBytes 4096 maxBytes 268435456 iters: 20 graph: 0\n#\n";
  for (int rank = 0; rank < nodes * gpus; ++rank) {
    text += fmt::format(
        "#  Rank {} Group 0 Pid 1 on node{} device {} [0000:00:1e] Tesla V100-SXM2-16GB\n", rank,
        rank / gpus, rank % gpus);
  }
  return text;
}

// As nccl-tests prints it: out of place and in place, here the same.
std::string log_of(const std::vector<Row>& rows, int nodes = 2, int gpus = 4,
                   const std::string& program = "all_reduce_perf") {
  std::string text = "# Collective test starting: " + program + "\n" + devices(nodes, gpus) +
                     "# size count type redop root time algbw busbw #wrong time algbw busbw "
                     "#wrong\n";
  for (const Row& row : rows) {
    text += fmt::format("{:.0f} {:.0f} float sum -1 {:.6f} N/A N/A {} {:.6f} N/A N/A 0\n",
                        row.bytes, row.bytes / 4, row.us, row.wrong, row.us);
  }
  return text + "# Out of bounds values : 0 OK\n";
}

std::string json_log_of(const std::vector<Row>& rows) {
  std::string list;
  for (int rank = 0; rank < 8; ++rank) {
    list += fmt::format(R"({}{{"rank":{},"hostname":"n{}","device_info":"Tesla V100-SXM2-16GB"}})",
                        rank == 0 ? "" : ",", rank, rank / 4);
  }
  std::string results;
  for (const Row& row : rows) {
    results += fmt::format(
        R"({}{{"size":{:.0f},"type":"float","out_of_place":{{"time":{:.6f},"nwrong":{}}},)"
        R"("in_place":{{"time":{:.6f},"nwrong":null}}}})",
        results.empty() ? "" : ",\n", row.bytes, row.us, row.wrong, row.us);
  }
  return R"({"version":3,"args":["./all_reduce_perf"],"config":{"nthreads":1,"ngpus":1,"graph":0,)" +
         fmt::format("\"devices\":[{}]}},\n\"results\":[{}]}}\n", list, results);
}

json observed(const std::vector<std::string>& files) {
  std::vector<std::string> options;
  for (const std::string& file : files) {
    options.insert(options.end(), {"--observed", file});
  }
  return test::predicted(options)["observed"];
}

struct Refused {
  test::ScratchFolder folder;

  std::string error(const std::string& content, const std::string& more = "") const {
    folder.write("run.txt", content);
    const Captured run =
        test::predict(small_experiment({"--observed", folder.path("run.txt") + more}));
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  }
};

}  // namespace

TEST_CASE("nccl-tests in text and in JSON say the same of the links") {
  const test::ScratchFolder folder;
  folder.write("run.txt", log_of(own_prices(1.0)));
  folder.write("run.json", json_log_of(own_prices(1.0)));
  json text = observed({folder.path("run.txt")});
  CHECK_THAT(text["step_after_seconds"].get<double>(),
             WithinRel(text["step_before_seconds"].get<double>(), 1e-5));
  CHECK(text["width_after_ratio"] < text["width_before_ratio"]);
  CHECK(text["measurements"].empty());
  REQUIRE(text["collectives"].size() == 2);
  CHECK(text["collectives"][0]["ranks"] == 8);
  CHECK(text["collectives"][0]["nodes"] == 2);
  json same = observed({folder.path("run.json")});
  for (json& each : same["collectives"]) {
    each["file"] = folder.path("run.txt");
  }
  CHECK(same == text);
}

TEST_CASE("slower links are found in nccl-tests, and told in the tables") {
  const test::ScratchFolder folder;
  folder.write("run.txt", log_of(own_prices(1.2)));
  const Captured run =
      test::predict(small_experiment({"--observed", folder.path("run.txt") + ",noise=5%"}));
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("all_reduce of 8 ranks on 2 nodes") &&
                          ContainsSubstring("measured / predicted") &&
                          ContainsSubstring("links as a whole") && ContainsSubstring("1.20 ±"));
  const json exact = observed({folder.path("run.txt")});
  const json noisy = observed({folder.path("run.txt") + ",noise=30%"});
  CHECK(exact["step_after_seconds"] > exact["step_before_seconds"]);
  CHECK(exact["step_after_seconds"] > noisy["step_after_seconds"]);
}

TEST_CASE("a file of nccl-tests that is wrong is refused at its line") {
  const Refused refused;
  const std::vector<Row> one{{65536, 100}};
  CHECK_THAT(refused.error(""), ContainsSubstring("is empty"));
  CHECK_THAT(refused.error("hello\n"),
             ContainsSubstring("there is no table of nccl-tests in this file"));
  const std::string log = log_of({{65536, 100}, {131072, 120, 3}});
  const std::size_t row = log.find("131072 ");
  const std::size_t column = log.find(" 3 ", row) - row + 2;  // of #wrong
  CHECK_THAT(refused.error(log), ContainsSubstring("3 wrong values") &&
                                     ContainsSubstring("run.txt:14:" + std::to_string(column)));
  CHECK_THAT(refused.error(json_log_of({{65536, 100, 2}})), ContainsSubstring("2 wrong values"));
  CHECK_THAT(refused.error(log_of(one) + log_of(one, 2, 4, "all_gather_perf")),
             ContainsSubstring("a second run, all_gather of 8 ranks on 2 nodes"));
  CHECK_THAT(refused.error(log_of(one, 2, 4, "gather_perf")),
             ContainsSubstring("gather_perf measures none of the collectives that are priced"));
  std::string uneven = log_of(one);
  uneven.replace(uneven.rfind("on node1"), 8, "on node0");
  CHECK_THAT(refused.error(uneven), ContainsSubstring("8 ranks on 2 hosts"));
  CHECK_THAT(refused.error(log_of({})), ContainsSubstring("no usable row"));
}

TEST_CASE("nccl-tests of another machine or of other links are refused with the reason") {
  const Refused refused;
  const std::vector<Row> one{{65536, 100}};
  CHECK_THAT(refused.error(log_of(one, 2, 8)), ContainsSubstring("has 4 GPUs"));
  CHECK_THAT(refused.error(log_of(one, 1, 4)), ContainsSubstring("inside a node"));
  CHECK_THAT(refused.error(log_of(one, 1, 1)), ContainsSubstring("one rank"));
  CHECK_THAT(refused.error(log_of(one), "@dp=4"), ContainsSubstring("noise"));
  std::string other = log_of(one);
  for (std::size_t at = 0; (at = other.find("Tesla V100-SXM2-16GB")) != std::string::npos;) {
    other.replace(at, 20, "NVIDIA A100-SXM4-40GB");
  }
  refused.folder.write("other.txt", other);
  const Captured run =
      test::predict(small_experiment({"--observed", refused.folder.path("other.txt")}));
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("was measured on `a100-sxm-40`"));
}

TEST_CASE("a run is given once, and is no step to compare") {
  const test::ScratchFolder folder;
  folder.write("run.txt", log_of(own_prices(1.0)));
  folder.write("job.yaml", test::small_job);
  const std::string file = folder.path("run.txt");
  const Captured twice = test::predict(small_experiment({"--observed", file, "--observed", file}));
  CHECK(twice.code == ExitCode::bad_input);
  CHECK_THAT(twice.err, ContainsSubstring("is given twice"));
  const Captured diff = test::payoff({"diff", folder.path("job.yaml"), "--observed", file});
  CHECK(diff.code == ExitCode::bad_input);
  CHECK_THAT(diff.err, ContainsSubstring("a step is compared, not messages"));
}

TEST_CASE("a run whose rows end early conditions with a warning, one that gave up not at all") {
  const test::ScratchFolder folder;
  std::string cut = log_of(own_prices(1.0));
  cut.insert(cut.find(" iters: 20"), " step: 4(factor)");
  cut.erase(cut.find("\n67108864 "));  // 4 KiB to 16 MiB of 256 MiB
  cut += "\n";
  folder.write("run.txt", cut);
  const Captured run = test::predict(small_experiment({"--observed", folder.path("run.txt")}));
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("warning:") &&
                          ContainsSubstring("the rows end at 16777216 bytes, and 268435456 were"));
  const Refused refused;
  CHECK_THAT(refused.error(cut + "node0: Test NCCL failure common.cu:1 'unhandled cuda error'\n"),
             ContainsSubstring("the run failed here: node0: Test NCCL failure"));
}
