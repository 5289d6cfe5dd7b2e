// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// Gradients that others than NCCL sum, from the command line.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::json_of;

namespace {

std::vector<std::string> job(std::string command, const char* by,
                             std::vector<std::string> more = {}) {
  std::vector<std::string> words{
      std::move(command), "--model", "resnet-50",     "--cluster", "p3dn-24xlarge",
      "--nodes",          "2",       "--micro-batch", "64"};
  words.insert(words.end(), {"--dp-collective", by});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

double step_of(const json& result) { return result["plans"][0]["step_seconds"].get<double>(); }

}  // namespace

TEST_CASE("both engines take the same step by NCCL, packed trees and sums in the switches") {
  for (const char* by : {"nccl", "packed_trees", "sharp"}) {
    INFO(by);
    const std::vector<std::string> rdma{"--set", "cluster.network=ib"};
    const double predicted = step_of(json_of(job("predict", by, rdma)));
    const double simulated = step_of(json_of(job("simulate", by, rdma)));
    CHECK_THAT(simulated, WithinRel(predicted, 1e-3));
  }
}

TEST_CASE("what sums gradients is named where their messages are explained") {
  const Captured run = test::payoff(job("explain", "packed_trees", {"exposed_dp"}));
  INFO(run.err);
  CHECK_THAT(run.out, ContainsSubstring("packed_trees"));
}

TEST_CASE("a job that nobody but NCCL can sum is refused at the words that ask for it") {
  const Captured run = test::predict({"--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "2",
                                      "--zero", "1", "--dp-collective", "packed_trees"});
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("packed_trees cannot sum the gradients: zero 1") &&
                          ContainsSubstring("--> argument 11: packed_trees") &&
                          ContainsSubstring("set zero to 0, or leave dp_collective out"));
}
