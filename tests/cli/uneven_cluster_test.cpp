// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
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

TEST_CASE("links of a class are as late folded as each of them is rank by rank") {
  const std::vector<std::string> narrow{
      "--set", "cluster.slow_gpus=[]", "--set",
      "cluster.topology.network={kind: fat_tree, servers_per_leaf: 1, spines: 2, "
      "oversubscription: 16}"};
  const json folded = simulated(narrow)["plans"][0]["links"];
  std::vector<std::string> unfolded = narrow;
  unfolded.emplace_back("--no-fold");
  const json whole = simulated(unfolded)["plans"][0]["links"];
  CHECK(folded.size() < whole.size());
  double latest = 0;
  for (const json& link : folded) {
    // "leaf0 > spine0 and 7 like it" is named after one of its links.
    const std::string name = link["name"];
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const json& other) {
      return other["name"] == name.substr(0, name.find(" and "));
    });
    INFO(name);
    REQUIRE(same != whole.end());
    CHECK((*same)["max_delay_seconds"] == link["max_delay_seconds"]);
    CHECK_THAT((*same)["bytes"].get<double>(), WithinRel(link["bytes"].get<double>(), 1e-9));
    latest = std::max(latest, link["max_delay_seconds"].get<double>());
  }
  CHECK(latest > 0);
}

TEST_CASE("send by send an uneven cluster folds, and takes the same step rank by rank") {
  const json folded = simulated({"--level", "steps"});
  const json whole = simulated({"--level", "steps", "--no-fold"});
  CHECK(folded["folding"]["simulated_ranks"].get<int>() < 8);
  CHECK(whole["folding"]["simulated_ranks"] == 32);
  CHECK(folded["folding"]["sends"] == whole["folding"]["sends"]);
  CHECK(folded["folding"]["send_classes"] < whole["folding"]["send_classes"]);
  CHECK(folded["plans"].size() == 2);
  for (std::size_t p = 0; p < folded["plans"].size(); ++p) {
    CHECK(folded["plans"][p]["step_seconds"] == whole["plans"][p]["step_seconds"]);
    CHECK(folded["plans"][p]["sends"] < whole["plans"][p]["sends"]);
  }
}

// Each rank hands over a bucket of dense layers and one of experts at one date: who is in whose way
// then decides what meets the exchanges of tokens on the links.
TEST_CASE("messages that are ready at one date start in one order, folded or rank by rank",
          "[once]") {
  const ScratchFolder folder;
  folder.write("e.yaml",
               "cluster:\n"
               "  profile: dgx-h100\n"
               "  nodes: 2\n"
               "  topology:\n"
               "    server:\n"
               "      gpus: 8\n"
               "      fabric: {kind: switch, bandwidth: 90 GB/s, latency: 1 us}\n"
               "      nics: {count: 8, bandwidth: 100 Gb/s, latency: 2 us}\n"
               "    servers: 2\n"
               "    network: {kind: switch}\n"
               "    routing: {balance: ideal}\n"
               "model: {profile: mixtral-8x7b, sequence: 512}\n"
               "layout: {ep: 4, micro_batch: 1}\n"
               "training: {precision: bf16, optimizer: adam, overlap: true}\n"
               "software: nemo-2024\n"
               "compress: [fp8]\n");
  for (const char* level : {"fluid", "steps"}) {
    for (const char* experts : {"layout.ep=2", "layout.ep=4", "layout.ep=8"}) {
      INFO(level << ", " << experts);
      const std::vector<std::string> words{
          "simulate", folder.path("e.yaml"), "--level", level, "--set", experts};
      std::vector<std::string> whole_words = words;
      whole_words.emplace_back("--no-fold");
      const json folded = test::json_of(words);
      const json whole = test::json_of(whole_words);
      CHECK(folded["folding"]["simulated_ranks"] < whole["folding"]["simulated_ranks"]);
      REQUIRE(folded["plans"].size() == 2);
      for (std::size_t p = 0; p < 2; ++p) {
        CHECK(folded["plans"][p]["step_seconds"] == whole["plans"][p]["step_seconds"]);
      }
    }
  }
}

TEST_CASE("a simulation says how far its ranks folded, or why they did not") {
  const auto text = [](const std::vector<std::string>& more) {
    const ScratchFolder folder;
    folder.write("e.yaml", job);
    std::vector<std::string> words{"simulate", folder.path("e.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    return test::payoff(words).out;
  };
  CHECK_THAT(text({"--set", "cluster.slow_gpus=[]"}),
             ContainsSubstring("32 ranks folded into 1 class"));
  CHECK_THAT(text({"--no-fold"}), ContainsSubstring("32 ranks, not folded: it was asked for;"));
  CHECK_THAT(text({"--level", "steps"}), ContainsSubstring("32 ranks folded into 2 classes"));
  CHECK_THAT(text({"--level", "steps"}), ContainsSubstring("19648 sends of programs in "));
  CHECK_THAT(text({"--set", "cluster.jitter={sd: 0.1}"}),
             ContainsSubstring("32 ranks, not folded: jitter and slow GPUs tell them apart;"));
  CHECK(simulated({})["folding"]["not_folded_because"].is_null());
  CHECK(simulated({"--no-fold"})["folding"]["not_folded_because"] == "it was asked for");
  // Without a topology one rank stands for those of each stage.
  const json even = test::json_of({"simulate", "--model", "gpt2", "--cluster", "p3-8xlarge",
                                   "--nodes", "2", "--dp", "8", "--micro-batch", "4"});
  CHECK(even["folding"]["ranks"] == 8);
  CHECK(even["folding"]["simulated_ranks"] == 1);
  const Captured stages =
      test::payoff({"simulate", "--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "1",
                    "--pp", "4", "--micro-batch", "4", "--micro-batches", "4"});
  CHECK_THAT(stages.out, ContainsSubstring("4 ranks, not folded: every pipeline stage has one"));
}

TEST_CASE("a cluster without a topology has nothing to unfold, and says so") {
  const std::vector<std::string> even{"simulate",   "--model",  "gpt2", "--cluster",
                                      "p3-8xlarge", "--nodes",  "2",    "--micro-batch",
                                      "4",          "--no-fold"};
  const Captured run = test::payoff(even);
  CHECK(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("`--no-fold` needs a topology") &&
                          ContainsSubstring("--> argument 10: --no-fold") &&
                          ContainsSubstring("= help: `--set cluster.topology=FILE`"));
  // Where ranks are listed for another reason it is no mistake.
  for (const char* listed : {"--level=steps", "--set=cluster.jitter=1 %"}) {
    std::vector<std::string> words = even;
    words.emplace_back(listed);
    INFO(listed);
    CHECK(test::payoff(words).code == ExitCode::success);
  }
}

TEST_CASE("more ranks than can be listed are told at the option that lists them") {
  // 65,536 ranks.
  const std::vector<std::string> large{
      "simulate",
      "--model",
      "gpt3-175b",
      "--cluster",
      "selene",
      "--nodes",
      "8192",
      "--tp",
      "8",
      "--pp",
      "8",
      "--dp",
      "1024",
      "--micro-batch",
      "1",
      "--micro-batches",
      "8",
      "--set",
      "cluster.topology={network: {kind: fat_tree, servers_per_leaf: 32, spines: 8}, "
      "routing: {balance: ideal}}"};
  for (const auto& [option, value] : {std::pair{"--no-fold", ""}, {"--level", "steps"}}) {
    std::vector<std::string> words = large;
    words.emplace_back(option);
    if (*value != 0) {
      words.emplace_back(value);
    }
    const Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("lists ranks one by one: 65536, some ") &&
                            ContainsSubstring("are more than 32768") &&
                            ContainsSubstring(std::string("leave `") + option + "` away"));
    CHECK_THAT(run.err, !ContainsSubstring("would be simulated"));
  }
  CHECK(test::payoff(large).code == ExitCode::success);
}

// Each alone, as a file says it, and whether anything folds then; of slow GPUs see above.
TEST_CASE("what makes a cluster uneven makes its step longer, folded and rank by rank alike") {
  struct Uneven {
    const char* keys;
    bool folds;
  };
  const std::vector<std::string> even_cluster = {"--set", "cluster.slow_gpus=[]"};
  const auto with = [&](const char* keys, bool folds) {
    std::vector<std::string> words = even_cluster;
    words.insert(words.end(), {"--set", keys});
    if (!folds) {
      words.emplace_back("--no-fold");
    }
    return simulated(words);
  };
  const double even = simulated(even_cluster)["plans"][0]["step_seconds"].get<double>();
  for (const auto& [keys, folds] : {
           Uneven{"cluster.topology.failed=[[leaf0, spine0]]", true},
           Uneven{"cluster.topology.degraded=[{link: [s1.nic3, leaf0], ratio: 0.2}]", true},
           Uneven{"cluster.topology.background={network: {mean: 30 %, sd: 10 %}}", true},
           Uneven{"cluster.jitter=5 %", false},
       }) {
    INFO(keys);
    const json folded = with(keys, true);
    const json whole = with(keys, false);
    CHECK(folded["plans"][0]["step_seconds"].get<double>() > even);
    CHECK(folded["plans"][0]["step_seconds"] == whole["plans"][0]["step_seconds"]);
    CHECK((folded["folding"]["simulated_ranks"].get<int>() < 32) == folds);
    CHECK(folded["plans"][0]["estimate"]["events"].get<double>() >=
          folded["plans"][0]["events"].get<double>());
  }
  // Ranks dealt out to the servers in turn: a ring changes servers at every step.
  std::string order = "cluster.topology.rank_order=[";
  for (int rank = 0; rank < 32; ++rank) {
    order += std::to_string(rank % 4 * 8 + rank / 4) + (rank < 31 ? ", " : "]");
  }
  CHECK(with(order.c_str(), true)["plans"][0]["step_seconds"] ==
        with(order.c_str(), false)["plans"][0]["step_seconds"]);
}

TEST_CASE(
    "predict says that it does not see the topology, with the simulator that its table does") {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  const Captured run = test::payoff({"predict", folder.path("e.yaml")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("not in these figures"));
  const Captured both = test::payoff({"predict", folder.path("e.yaml"), "--engine", "sim"});
  CHECK(both.code == ExitCode::success);
  CHECK_THAT(both.err, ContainsSubstring("not in these figures") &&
                           ContainsSubstring("the table of the simulator sees them"));
}

TEST_CASE("commands that answer analytically say that they do not see the topology") {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  for (const std::string command : {"explain", "run"}) {
    INFO(command);
    const Captured answer =
        test::payoff({command, folder.path("e.yaml"), "--set", "run.phases=[{iterations: 10}]"});
    CHECK(answer.code == ExitCode::success);
    CHECK_THAT(answer.err, ContainsSubstring("payoff simulate"));
  }
}

TEST_CASE("payoff check prints the bisection bandwidth of an experiment's topology") {
  const ScratchFolder folder;
  folder.write("e.yaml", job);
  const Captured run = test::payoff({"check", folder.path("e.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("bisection bandwidth"));
}
