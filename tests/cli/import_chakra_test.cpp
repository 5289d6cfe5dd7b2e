// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/chakra_writer.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

const std::string trace = PAYOFF_SOURCE_DIR "/examples/12-own-trace/rank0.et";

void check_refused(const std::vector<std::string>& words, const std::string& why) {
  const test::Captured run = test::payoff(words);
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring(why));
}

std::string written_to(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace

// By examples/12-own-trace/make.py: forward 100 + 12 x 500 + 400, backward 800 + 12 x 1000 + 150;
// the last message has 5000 to go when the last gradient is there, 150 after block 0; then 2800.
TEST_CASE("the graph of an execution trace is what went into it") {
  const json result = test::json_of({"import", "chakra", trace});
  const json& read = result["traces"][0];
  CHECK(read["schema_version"] == "1.0.0");
  CHECK(read["nodes"] == 1 + 26 + 38 + 3 + 1);
  const double compute = 100 + 12 * 500 + 400 + 800 + 12 * 1000 + 150 + 2800;
  CHECK_THAT(read["replay"]["compute_seconds"].get<double>(), WithinRel(compute * 1e-6, 1e-9));
  REQUIRE(read["messages"].size() == 2);
  CHECK(read["messages"][0]["put_in_bytes"] == 83000000);
  CHECK(read["messages"][0]["ranks"] == 16);
  CHECK(read["messages"][0]["calls"] == 2);
  // Block 8 is done 4 x 1000 into backward's blocks: three messages follow each other from there.
  const double first = 100 + 12 * 500 + 400 + 800 + 4 * 1000;
  CHECK_THAT(read["replay"]["wall_seconds"].get<double>(),
             WithinRel((first + 3 * 5000 + 2800) * 1e-6, 1e-9));
  CHECK(read["observed"].is_null());
}

TEST_CASE("an execution trace takes other times on other numbers of nodes, by the law") {
  const json result =
      test::json_of({"import", "chakra", trace, "--cluster", "p4d-24xlarge", "--nodes", "1,2,16"});
  const json& scales = result["traces"][0]["scales"];
  REQUIRE(scales.size() == 3);
  CHECK(scales[0]["ranks"] == 8);
  CHECK(scales[2]["ranks"] == 128);
  const json law = test::json_of({"collective", "all_reduce", "--cluster", "p4d-24xlarge",
                                  "--nodes", "16", "--sizes", "83MB"});
  CHECK(scales[2]["messages"][0]["time_seconds"] == law["rows"][0]["time_seconds"]);
  CHECK(scales[0]["replay"]["wall_seconds"] < scales[2]["replay"]["wall_seconds"]);
}

TEST_CASE("execution traces with start times are observations of a step") {
  const test::ScratchFolder folder;
  const std::string file = written_to(
      folder.path("timed.et"),
      test::metadata() + test::written({1, test::COMP, 300, {}, test::begins(5000)}) +
          test::written({2, test::COLL, 80, {1}, test::begins(5310) + test::collective(0, 64)}));
  const json result = test::json_of({"import", "chakra", file, "--steps", "2"});
  CHECK(result["traces"][0]["observed"] == "step=195.000us,exposed=40.000us");
  const test::Captured text = test::payoff({"import", "chakra", file});
  CHECK_THAT(text.out, ContainsSubstring("--observed step=390.000us,exposed=80.000us"));
}

TEST_CASE("what is wrong with an execution trace is told with its place, and nothing else") {
  const test::ScratchFolder folder;
  const std::string cut = written_to(folder.path("cut.et"), test::metadata() +
                                                                "\x50"
                                                                "abc");
  check_refused({"import", "chakra", cut}, "byte 8: length: a message of 80 bytes");
  const std::string loose = written_to(folder.path("loose.et"),
                                       test::metadata() + test::written({2, test::COMP, 1, {9}}));
  check_refused({"import", "chakra", loose}, "node 2: depends on node 9");
}

TEST_CASE("options of execution traces are checked, and refused where they mean nothing") {
  check_refused({"import", "chakra", trace, "--nodes", "2"}, "`--nodes` needs --cluster");
  check_refused({"import", "chakra", trace, "--micro-batch", "2"}, "is of `payoff import kineto`");
  check_refused({"import", "chakra", trace, "-o", "x.csv"}, "kineto` and `nccl-log");
  const std::vector<std::string> scaled{"import", "chakra", trace, "--cluster", "p4d-24xlarge"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = scaled;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  check_refused(with({"--group", "9=dp"}), "no message of the trace is of a group `9`");
  check_refused(with({"--group", "0=data"}), "a role of a group");
  check_refused(with({"--group", "dp"}), "is not NAME=ROLE");
  check_refused(with({"--tp", "8"}), "ALL_REDUCE of group 0 has no role in this layout");
  check_refused(with({"--tp", "3"}), "does not divide 8 ranks");
  check_refused(with({"--nodes", "1000000"}), "1 to 1048576 ranks are modelled");
  // 2^61 + 1 nodes of 8 GPUs are 8 ranks to who counts in 64 bits.
  check_refused(with({"--nodes", "2305843009213693953"}), "1 to 1048576 ranks are modelled");
}
