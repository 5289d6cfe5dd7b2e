// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

constexpr const char* job =
    "cluster:\n"
    "  profile: dgx-h100\n"
    "  nodes: 4\n"
    "  topology:\n"
    "    network: {kind: fat_tree, servers_per_leaf: 2, spines: 2, oversubscription: 4}\n"
    "    routing: {balance: ideal}\n"
    "  slow_gpus: [{gpu: 9, slowdown: 1.3}]\n"
    "model: {profile: bert-large}\n"
    "layout: {dp: 32, micro_batch: 4}\n"
    "compress: [fp8]\n";

json simulated(const std::vector<std::string>& more) {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  std::vector<std::string> words{"simulate", folder.path("e.yaml"), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Captured run = test::payoff(words);
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("an uneven cluster folds, and takes the same step rank by rank") {
  const json folded = simulated({});
  const json whole = simulated({"--no-fold"});
  CHECK(folded["folding"]["ranks"] == 32);
  CHECK(folded["folding"]["simulated_ranks"].get<int>() < 8);
  CHECK(whole["folding"]["simulated_ranks"] == 32);
  for (std::size_t i = 0; i < folded["plans"].size(); ++i) {
    CHECK(folded["plans"][i]["step_seconds"] == whole["plans"][i]["step_seconds"]);
  }
  const json even = simulated({"--set", "cluster.slow_gpus=[]"});
  CHECK(even["folding"]["simulated_ranks"] == 1);
  CHECK(even["plans"][0]["step_seconds"].get<double>() <
        folded["plans"][0]["step_seconds"].get<double>());
}

TEST_CASE("predict says that it does not see the topology, unless the simulator is asked too") {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  const Captured run = test::payoff({"predict", folder.path("e.yaml")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("not in these figures"));
  const Captured both = test::payoff({"predict", folder.path("e.yaml"), "--engine", "sim"});
  CHECK(both.code == ExitCode::success);
  CHECK_THAT(both.err, !ContainsSubstring("not in these figures"));
}

TEST_CASE("payoff check prints the bisection bandwidth of an experiment's topology") {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  const Captured run = test::payoff({"check", folder.path("e.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("bisection bandwidth"));
}
