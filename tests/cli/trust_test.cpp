// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
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
using payoff::test::small_experiment;

TEST_CASE("kernels beyond those that a law was fitted to are counted and listed") {
  std::vector<std::string> words = small_experiment({"--json"});
  words.insert(words.begin(), "predict");
  const json trust = json::parse(test::payoff(words).out)["trust"];
  REQUIRE_FALSE(trust["extrapolated_kernels"].empty());
  bool gathers = false;
  for (const json& use : trust["extrapolated_kernels"]) {
    CHECK(use["extrapolated"] == true);
    if (use["kernel"] == "gathers") {  // nobody published a timing of them
      gathers = true;
      CHECK(use["plan"] == "topk:ratio=0.01");
      CHECK(use["measured_largest_bytes"].is_null());
    }
  }
  CHECK(gathers);
  words.pop_back();
  CHECK_THAT(test::payoff(words).out, ContainsSubstring(" kinds of kernels are priced beyond"));
}

// A block of Llama 2 7B: four matrices of attention, three of the feed-forward, two norms.
TEST_CASE("codecs of weights are among the kernels that are priced beyond what was measured") {
  const ScratchFolder folder;
  folder.write("job.yaml", R"(experiment: weights
cluster: {profile: dgx-a100, nodes: 2}
model: {profile: llama-2-7b}
layout: {micro_batch: 1, zero: 3}
training: {precision: bf16, gradient: bf16}
software: pytorch-2
compress: ["qwz:traffic=dp_weights", "qwz:traffic=dp_weights,copy_in_node=true"]
)");
  constexpr double hidden = 4096;
  constexpr double block = 4 * hidden * hidden + 3 * hidden * 11008 + 2 * hidden;
  constexpr double payload = block + 4 * block / 4096;  // bytes, and a scale for each group
  const Captured run = test::payoff({"predict", folder.path("job.yaml"), "--json"});
  REQUIRE(run.code == ExitCode::success);
  const json trust = json::parse(run.out)["trust"];
  int seen = 0;
  for (const json& use : trust["extrapolated_kernels"]) {
    if (use["plan"].is_null()) {
      continue;
    }
    ++seen;
    INFO(use.dump());
    CHECK(use["kernel"] == "streams");
    // Two bytes an element are read and written beside it; each of 16 GPUs encodes its part.
    const double traffic = (2 * block + payload) / (use["work"] == "encode" ? 16 : 1);
    CHECK(use["smallest_bytes"].get<double>() == Approx(traffic).epsilon(1e-9));
    // The eight GPUs of a node gather among themselves for backward, with parts twice as large.
    if (use["work"] == "encode" && use["plan"] != "qwz:traffic=dp_weights") {
      CHECK(use["largest_bytes"].get<double>() > 2 * traffic);
    }
  }
  CHECK(seen == 4);  // encode and decode of both
}

TEST_CASE("a sweep says of each result what is priced beyond what was measured, as predict does") {
  std::vector<std::string> words = small_experiment({"--json"});
  words.insert(words.begin(), "predict");
  const json trust = json::parse(test::payoff(words).out)["trust"];
  const auto of = [](const json& uses, const std::string& strategy) {
    return std::count_if(uses.begin(), uses.end(), [&](const json& use) {
      return use["plan"].is_null() || use["plan"] == strategy;
    });
  };
  words.front() = "sweep";
  words.back() = "--over";
  words.emplace_back("bandwidth=10 Gb/s,25 Gb/s");
  const Captured sweep = test::payoff(words);
  REQUIRE(sweep.code == ExitCode::success);
  std::istringstream lines(sweep.out);
  std::string line;
  std::getline(lines, line);  // what was asked
  std::size_t results = 0;
  for (; std::getline(lines, line); ++results) {
    const json row = json::parse(line);
    const auto strategy = row["strategy"].get<std::string>();
    INFO(strategy);
    CHECK(row["messages_extrapolated"] == of(trust["extrapolated"], strategy));
    CHECK(row["kernels_extrapolated"] == of(trust["extrapolated_kernels"], strategy));
    CHECK(row["pairs_extrapolated"] == 0);
  }
  CHECK(results == 6);
  CHECK_THAT(sweep.err, ContainsSubstring("of 6 results ") &&
                            ContainsSubstring("6 price kernels beyond what was measured"));
}

TEST_CASE(
    "advice and search say what is priced beyond what was measured, in words and in numbers") {
  for (const std::string command : {"advise", "search"}) {
    std::vector<std::string> words = small_experiment({});
    words.insert(words.begin(), command);
    INFO(command);
    CHECK_THAT(test::payoff(words).out,
               ContainsSubstring(" are priced beyond what was measured: `payoff explain` shows"));
    words.emplace_back("--json");
    const json answer = json::parse(test::payoff(words).out);
    const json& first = command == "advise" ? answer["compared"][0] : answer["given"];
    CHECK(first["kernels_extrapolated"] > 0);
    CHECK(first.contains("messages_extrapolated"));
  }
}

TEST_CASE("what is published on model quality is no number of a step's time") {
  const test::ScratchFolder folder;
  const std::string method = R"(method: halves
description: every other value
implementation: fused
granularity: tensor
sums_in_collective: true
traffic: [dp_gradients]
citations:
  paper: {kind: published, text: a paper, url: "https://example.org", date: 2026-11-26}
rounds: [{encode: {bytes: "n", kernels: "1"}, collective: all_reduce, message: "v * n / 2"}]
decode: {bytes: "n", kernels: "1"}
wire: {as_published: "v * n / 2", as_implemented: "v * n / 2", used: as_published}
)";
  const auto numbers = [&](const std::string& more) {
    folder.write("halves.yaml", method + more);
    std::vector<std::string> words =
        small_experiment({"--compress", folder.path("halves.yaml"), "--json"});
    words.insert(words.begin(), "predict");
    const Captured run = test::payoff(words);
    REQUIRE(run.code == ExitCode::success);
    return json::parse(run.out)["trust"]["numbers"].get<int>();
  };
  CHECK(numbers("quality: [{says: as good, from: paper}]\n") == numbers(""));
}

TEST_CASE("a table of a collective says what its link was measured on") {
  const auto foot = [](const std::string& cluster, const std::string& nodes) {
    return test::payoff({"collective", "all_reduce", "--cluster", cluster, "--nodes", nodes,
                         "--sizes", "1MiB"})
        .out;
  };
  CHECK_THAT(foot("dgx-h100", "4"), ContainsSubstring("1 of 1 rows are extrapolated; measured "
                                                      "over ib: "));
  CHECK_THAT(foot("jean-zay", "2"), ContainsSubstring("the fit has no measurement of omnipath."));
  CHECK_THAT(foot("dgx-h100", "1"), !ContainsSubstring("extrapolated"));
}

TEST_CASE("small messages of one process take what its launches take") {
  const auto time = [](std::vector<std::string> more) {
    std::vector<std::string> words{"collective", "all_reduce", "--cluster", "dgx-h100",
                                   "--sizes",    "8B",         "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(test::payoff(words).out)["rows"][0]["time_seconds"].get<double>();
  };
  CHECK(time({"--one-process"}) > 1.5 * time({}));
  CHECK(time({"--one-process", "--gpus-per-node", "1"}) == 0.0);
  const Captured refused =
      test::payoff({"collective", "all_to_all", "--cluster", "dgx-h100", "--one-process"});
  CHECK(refused.code == ExitCode::bad_input);
  CHECK_THAT(refused.err, ContainsSubstring("has no prices of all_to_all"));
}
