// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// layout.order: ranks on other GPUs than tp-cp-dp-pp puts them.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::ScratchFolder;

namespace {

// 32 GPUs: a pipeline of 4 stages of 8 GPUs each, as they come.
constexpr const char* job =
    "cluster: {profile: dgx-a100, nodes: 4}\n"
    "model: {profile: gpt3-13b, sequence: 2048}\n"
    "layout: {tp: 2, pp: 4, dp: 4, micro_batch: 1, micro_batches: 8}\n";

json simulated(const ScratchFolder& folder, std::vector<std::string> more) {
  more.insert(more.begin(), {"simulate", folder.path("job.yaml")});
  return test::json_of(more)["plans"][0];
}

}  // namespace

TEST_CASE("the engines agree on jobs in any order of ranks, message by message and send by send") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  for (const char* order : {"tp-pp-dp", "dp-tp-pp", "dp-pp-tp"}) {
    for (const char* level : {"fluid", "steps"}) {
      const json plan = simulated(folder, {"--order", order, "--level", level});
      INFO(order << ", " << level);
      CHECK_THAT(plan["step_seconds"].get<double>(),
                 WithinRel(plan["analytical_step_seconds"].get<double>(), 1e-3));
    }
  }
  // Where both tensor-parallel groups and half of every replica's peers are on other nodes, their
  // messages share NICs, which the simulator alone sees.
  const json both = simulated(folder, {"--order", "pp-dp-tp"});
  CHECK(both["step_seconds"].get<double>() > both["analytical_step_seconds"].get<double>());
  CHECK(both["step_seconds"].get<double>() < 1.05 * both["analytical_step_seconds"].get<double>());
}

TEST_CASE("groups that leave their node take longer, and those that come into one less") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  const auto part = [&](const char* order, const char* kind) {
    return simulated(folder, {"--order", order})["traffic"][kind]["in_flight_seconds"]
        .get<double>();
  };
  // A stage of eight GPUs is a node; with tp-pp-dp a pipeline is, and gradients pass the network.
  CHECK(part("tp-pp-dp", "dp") > 1.5 * part("tp-cp-dp-pp", "dp"));
  // Tensor-parallel pairs are neighbours, or a node apart.
  CHECK(part("dp-pp-tp", "tp") > 2 * part("tp-cp-dp-pp", "tp"));
}

TEST_CASE("a slow GPU is the GPU of its number in any order") {
  const ScratchFolder folder;
  // With tp-pp-dp GPU 6 is in the last stage, with the usual order in the first.
  folder.write("slow.yaml",
               "cluster: {profile: dgx-a100, nodes: 4, slow_gpus: [{gpu: 6, slowdown: 2}]}\n"
               "model: {profile: gpt3-13b, sequence: 2048}\n"
               "layout: {tp: 2, pp: 4, dp: 4, micro_batch: 1, micro_batches: 8}\n");
  const auto stage = [&](const char* order) {
    const json result =
        test::json_of({"simulate", folder.path("slow.yaml"), "--order", order})["plans"][0];
    CHECK(result["step_seconds"].get<double>() >
          1.2 * result["analytical_step_seconds"].get<double>());
    return result;
  };
  CHECK(stage("tp-pp-dp")["step_seconds"] != stage("tp-cp-dp-pp")["step_seconds"]);
}

// A step of one rank of each stage: 65,536 ranks would be too many to list.
TEST_CASE("an order of its own has no limit of ranks where every node holds the same") {
  const ScratchFolder folder;
  folder.write("job.yaml",
               "cluster: {profile: dgx-a100, nodes: 8192}\n"
               "model: {profile: gpt3-13b, sequence: 2048}\n"
               "layout: {tp: 2, pp: 4, dp: 8192, micro_batch: 1, micro_batches: 8}\n");
  const json plan = simulated(folder, {"--order", "tp-pp-dp"});
  CHECK_THAT(plan["step_seconds"].get<double>(),
             WithinRel(plan["analytical_step_seconds"].get<double>(), 1e-3));
  folder.write("thirds.yaml",
               "cluster: {profile: dgx-a100, nodes: 6144}\n"
               "model: {profile: gpt3-13b, sequence: 2048}\n"
               "layout: {pp: 4, dp: 12288, order: dp-pp, micro_batch: 1, micro_batches: 8}\n");
  CHECK(test::payoff({"simulate", folder.path("thirds.yaml")}).code == ExitCode::success);
}

TEST_CASE("an order that is none is refused with what it has to be") {
  const ScratchFolder folder;
  folder.write("job.yaml", job);
  const auto wrong = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", folder.path("job.yaml")});
    const Captured run = test::payoff(more);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK_THAT(wrong({"--order", "tp-xx"}), ContainsSubstring("`xx`, which is no degree") &&
                                              ContainsSubstring("innermost first: tp-pp-dp"));
  CHECK_THAT(wrong({"--order", "tp-pp-tp"}), ContainsSubstring("has `tp` twice"));
  CHECK_THAT(wrong({"--order", "tp-pp-dp", "--pp", "3", "--nodes", "3"}),
             ContainsSubstring("data-parallel groups of 4 ranks") &&
                 ContainsSubstring("in more than one way"));
}
