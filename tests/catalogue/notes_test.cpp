// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/host_codec.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"

// What the files say beside their formulas.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

// Which test holds each checked method to a figure that was not taken from its file.
const std::map<std::string, std::vector<std::string>> held_to_a_figure{
    {"tests/catalogue/volumes_test.cpp",
     {"efsignsgd", "natural", "onebit", "qsgd_framework", "randomk", "randomk_uniform",
      "signsgd_bytes", "terngrad", "topk", "u8_dynamic"}},
    {"tests/catalogue/sources_test.cpp",
     {"dgc_horovod", "elias_servers", "fp8_block", "fp8_weights", "globalqsgd", "lossless", "mxfp4",
      "mxfp8", "nvfp4", "oktopk", "onebitadam", "onebitlamb", "powersgd_gram_schmidt",
      "quickreduce", "randomk_indexed", "thc"}},
    {"tests/catalogue/weights_test.cpp", {"hpz", "qwz"}},
    {"tests/catalogue/activations_test.cpp", {"activation_topk"}},
    {"tests/catalogue/breakdown_test.cpp", {"qsgd_maxnorm", "qsgd_maxnorm_two_scale"}},
    {"tests/catalogue/host_test.cpp",
     {"dgc_host", "efsignsgd_host", "onebit_host", "parameter_server", "randomk_host"}},
    {"tests/model/payloads_test.cpp",
     {"activation_quantization", "autoencoder", "bf16", "fp16", "powersgd", "powersgd_reducer",
      "qsgd", "signsgd"}}};

}  // namespace

TEST_CASE("what sums on the way is said to sum, and the other way round") {
  Method gathered = test::method("topk");
  gathered.rounds[0].collective = Collective::all_reduce;
  const Problems problems = check_method(gathered);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].path == "rounds[0].collective");
  CHECK_THAT(problems[0].message, ContainsSubstring("not one that can be summed"));
  for (const auto& [name, profile] : test::catalogue()) {
    INFO(name);
    CHECK(check_method(profile.profile.value).empty());
  }
}

TEST_CASE("a method that no test holds to a sourced number counts as assumed") {
  int unchecked = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    INFO(name);
    int facts = 0;
    for (const Fact& fact : profile.profile.facts) {
      if (fact.path == "unchecked") {
        ++facts;
        CHECK(fact.kind == Provenance::assumed);
        CHECK(fact.citation == profile.notes.unchecked);
      }
    }
    CHECK(facts == (profile.notes.unchecked.empty() ? 0 : 1));
    unchecked += facts;
  }
  CHECK(unchecked > 0);
  CHECK(unchecked < static_cast<int>(test::catalogue().size()));
}

TEST_CASE("a method that counts as checked is named by a test that holds it to a figure") {
  std::vector<std::string> held;
  for (const auto& [path, names] : held_to_a_figure) {
    std::ifstream file(PAYOFF_SOURCE_DIR "/" + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& name : names) {
      INFO(path << " on " << name);
      CHECK_THAT(text, ContainsSubstring('"' + name + '"'));
      held.push_back(name);
    }
  }
  std::sort(held.begin(), held.end());
  std::vector<std::string> checked;
  for (const auto& [name, profile] : test::catalogue()) {
    if (profile.notes.unchecked.empty()) {
      checked.push_back(name);
    }
  }
  CHECK(held == checked);
}

TEST_CASE("what the layout uses and no implementation composes with stands in the way") {
  MethodNotes notes;
  notes.implementations = {"somebody's"};
  notes.composes = {{"fsdp", "no: whole gradients"},
                    {"pipeline_parallel", "partly: late"},
                    {"accumulation", "yes"}};
  ParallelLayout layout;
  CHECK(obstacles(notes, layout).empty());
  layout.pp = 4;
  layout.micro_batches = 8;
  REQUIRE(obstacles(notes, layout).size() == 1);
  CHECK(obstacles(notes, layout)[0].feature == "pipeline_parallel");
  CHECK_FALSE(obstacles(notes, layout)[0].rules_out());
  layout.zero = 3;
  CHECK(obstacles(notes, layout)[0].rules_out());
  // Nobody has it: only a file of one's own needs nobody else's.
  notes.implementations.clear();
  notes.composes.clear();
  REQUIRE(obstacles(notes, layout).size() == 1);
  CHECK(obstacles(notes, layout)[0].rules_out());
  notes.users_own = true;
  CHECK(obstacles(notes, layout).empty());
}

TEST_CASE("parts of a method are no implementation of it, alone or beside another method") {
  MethodNotes parts;
  parts.implementations = {"none: kernels only"};
  REQUIRE(obstacles(parts, ParallelLayout{}).size() == 1);
  CHECK(obstacles(parts, ParallelLayout{})[0].feature == "implementation");
  CHECK(obstacles(parts, ParallelLayout{})[0].answer == "no: kernels only");
  MethodNotes whole;
  whole.implementations = {"somebody's"};
  CHECK(obstacles(whole, ParallelLayout{}).empty());
  for (const MethodNotes& both : {joined(parts, whole), joined(whole, parts)}) {
    REQUIRE(obstacles(both, ParallelLayout{}).size() == 1);
    CHECK(obstacles(both, ParallelLayout{})[0].answer == "no: kernels only");
  }
}

TEST_CASE("what DeepSpeed has with ZeRO-3 alone composes with neither ZeRO-1 nor a pipeline") {
  ParallelLayout layout;
  for (const char* name : {"qgz", "qwz", "hpz", "loco"}) {
    INFO(name);
    const MethodNotes& notes = test::catalogue().at(name).notes;
    layout = {};
    layout.zero = 3;
    CHECK(obstacles(notes, layout).empty());
    layout.zero = 1;
    REQUIRE(obstacles(notes, layout).size() == 1);
    CHECK(obstacles(notes, layout)[0].rules_out());
    layout.zero = 0;
    layout.pp = 2;
    REQUIRE(obstacles(notes, layout).size() == 1);
    CHECK(obstacles(notes, layout)[0].rules_out());
  }
}

// A method that only a paper has cannot say what its code composes with.
TEST_CASE("whatever has an implementation says what it composes with") {
  int none = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    INFO(name);
    const Obstacle* nobody = nullptr;
    const std::vector<Obstacle> found = obstacles(profile.notes, ParallelLayout{});
    for (const Obstacle& obstacle : found) {
      nobody = obstacle.feature == "implementation" ? &obstacle : nobody;
    }
    CHECK((nobody != nullptr || !profile.notes.composes.empty()));
    none += nobody != nullptr ? 1 : 0;
  }
  CHECK(none < static_cast<int>(test::catalogue().size()) / 4);
}

TEST_CASE("a cast composes with sharded gradients; a method that waits for the host has no graph") {
  const auto answer = [](const char* name, const std::string& feature) {
    const MethodProfile& profile = test::catalogue().at(name);
    for (const auto& [known, text] : compositions(profile.profile.value, profile.notes)) {
      if (known == feature) {
        return text.substr(0, text.find(':'));
      }
    }
    return std::string{};
  };
  CHECK(answer("fp16", "zero") == "yes");
  CHECK(answer("topk", "zero") == "no");
  CHECK(answer("mstopk", "cuda_graphs") == "no");
  CHECK(answer("signsgd_fused", "cuda_graphs") != "no");
  // Sharding takes gradients apart, not what a stage sends the next.
  CHECK(answer("tahquant", "zero").empty());
  CHECK(answer("fp8_weights", "zero").empty());
}

TEST_CASE("a repository that has a method is named at the commit or the version that was read") {
  const std::regex repository("^[A-Za-z0-9-]+/[A-Za-z0-9._-]+.*");
  const std::regex version(".*( at [0-9a-f]{7}| [0-9]+\\.[0-9]+).*");
  for (const auto& [name, profile] : test::catalogue()) {
    for (const std::string& implementation : profile.notes.implementations) {
      INFO(name << ": " << implementation);
      CHECK((!std::regex_match(implementation, repository) ||
             std::regex_match(implementation, version)));
    }
  }
}

TEST_CASE("what waits for the host, or runs there, composes with no CUDA graph") {
  for (const auto& [name, profile] : test::catalogue()) {
    const Method& method = profile.profile.value;
    if (!runs_on_host(method) && host_syncs_of_a_call(method) == 0) {
      continue;
    }
    INFO(name);
    std::string answer;
    for (const auto& [feature, text] : compositions(method, profile.notes)) {
      answer = feature == "cuda_graphs" ? text : answer;
    }
    CHECK_THAT(answer, Catch::Matchers::StartsWith("no: "));
  }
}

TEST_CASE("every method says what clipping and loss scaling meet, but for a few that nobody read") {
  int unsaid = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    for (const std::string feature : {"clipping", "loss_scaling"}) {
      const auto& composes = profile.notes.composes;
      unsaid += std::any_of(composes.begin(), composes.end(),
                            [&](const auto& each) { return each.first == feature; })
                    ? 0
                    : 1;
    }
  }
  CHECK(unsaid < static_cast<int>(test::catalogue().size()) / 5);
}
