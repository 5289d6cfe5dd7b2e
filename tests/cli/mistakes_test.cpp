// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// All mistakes of a command line at once, each of them once.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::small_experiment;

namespace {

std::vector<std::string> words(std::string command, std::vector<std::string> more) {
  more.insert(more.begin(), std::move(command));
  return more;
}

std::vector<std::string> messages(std::vector<std::string> line) {
  line.insert(line.end(), {"--error-format", "json"});
  const Captured run = test::payoff(line);
  INFO(run.err);
  REQUIRE(run.code == ExitCode::bad_input);
  CHECK(run.out.empty());
  std::vector<std::string> result;
  const auto json = nlohmann::json::parse(run.err);
  for (const auto& error : json["errors"]) {
    result.push_back(error["message"]);
  }
  return result;
}

bool says(const std::vector<std::string>& all, const std::string& part) {
  for (const std::string& message : all) {
    if (message.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("an unknown option hides no other mistake, and its value is none of its own") {
  const auto all = messages({"predict", "--model", "bert-larg", "--cluster", "p3-8xlarg", "--nodez",
                             "4", "--set", "layout.tpp=2"});
  CHECK(all.size() == 4);
  CHECK(says(all, "unknown option `--nodez`"));
  CHECK(says(all, "no model `bert-larg`"));
  CHECK(says(all, "no cluster `p3-8xlarg`"));
  CHECK(says(all, "unknown key `tpp`"));
}

TEST_CASE("a wrong value does not hide what is wrong with a combination of others") {
  const auto fp8 = messages({"predict", "--model", "bert-large", "--cluster", "p3-8xlarge",
                             "--nodes", "2", "--precision", "fp8", "--bucket", "25"});
  CHECK(says(fp8, "`training.bucket` has no unit"));
  CHECK(says(fp8, "`layout") == false);
  const auto heads = messages({"predict", "--model", "bert-large", "--cluster", "dgx-a10", "--tp",
                               "3", "--bandwidth", "25"});
  CHECK(says(heads, "no cluster"));
  CHECK(says(heads, "has no unit"));
  CHECK(says(heads, "16 attention heads"));
  const auto ranks = messages({"predict", "--model", "bert-larg", "--cluster", "p3-8xlarge",
                               "--nodes", "2", "--dp", "3", "--sequence", "1.5"});
  CHECK(says(ranks, "no model"));
  CHECK(says(ranks, "dp 3 x tp 1 x pp 1 = 3 ranks"));
  const auto precision = messages({"predict", "--model", "bert-large", "--cluster", "p3-8xlarge",
                                   "--nodes", "2", "--precision", "fp8", "--set", "layout.tpp=1"});
  CHECK(says(precision, "has no arithmetic units for fp8"));
}

TEST_CASE("a refused value of the layout hides nothing that is wrong whatever it was meant to be") {
  const auto layout = [](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"predict", "--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "4"});
    return messages(more);
  };
  const auto zero = layout({"--zero", "7", "--pp", "3", "--virtual-stages", "5", "--tp", "3"});
  CHECK(says(zero, "`layout.zero`"));
  CHECK(says(zero, "12 attention heads") == false);  // 3 divides them
  CHECK(says(zero, "tensor-parallel groups of 3 ranks"));
  CHECK(says(zero, "12 layers cannot be divided into pp 3 x 5 equal chunks"));
  const auto both = layout({"--zero", "7", "--micro-batch", "0", "--tp", "8", "--set",
                            "layout.tp_overlap=3", "--set", "layout.ep=2"});
  CHECK(says(both, "`layout.zero`"));
  CHECK(says(both, "`layout.micro_batch`"));
  CHECK(says(both, "attention heads"));
  CHECK(says(both, "only gathers and scatters of sequence parallelism"));
  CHECK(says(both, "the model has no experts"));
  // What follows from the refused value waits for a better one.
  const auto shard =
      layout({"--zero", "7", "--set", "layout.shard=2", "--set", "layout.reshard=false"});
  CHECK(shard.size() == 1);
  const auto degree = layout({"--tp", "0", "--set", "layout.sequence_parallel=true", "--set",
                              "layout.stage_layers=[6, 7]", "--pp", "2"});
  CHECK(says(degree, "adds up to 13 layers"));
  CHECK(says(degree, "sequence parallelism needs") == false);
}

TEST_CASE("one cause is one error for the cluster and one for the model") {
  const auto all = messages(
      {"predict", "--model", "bert-large", "--cluster", "p3-8xlarge", "--nodes", "8", "--tp", "3"});
  CHECK(all.size() == 2);
  CHECK(says(all, "do not fill nodes of 4 GPUs"));
  CHECK(says(all, "16 attention heads, 4096 columns of the feed-forward"));
}

TEST_CASE("with one replica the strategies are refused together") {
  const auto all = messages({"predict", "--model", "resnet-50", "--cluster", "p3-8xlarge",
                             "--gpus-per-node", "1", "--compress", "powersgd:rank=4", "--compress",
                             "signsgd", "--compress", "fp16"});
  REQUIRE(all.size() == 1);
  CHECK_THAT(all[0], ContainsSubstring("dp is 1"));
  CHECK_THAT(all[0], ContainsSubstring("`powersgd:rank=4`, `signsgd`, `fp16`"));
}

TEST_CASE("two values for one key are a mistake that names both places") {
  const std::vector<std::vector<std::string>> twice = {
      {"--set", "layout.micro_batch=16", "--set", "layout.micro_batch=32"},
      {"--set", "training.bucket=16 MiB", "--bucket", "32 MiB"},
      {"--set", "training.bucket=16 MiB", "--set", "training={overlap: false}"},
      {"--bucket", "16 MiB", "--bucket", "32 MiB"},
      {"--compress", "fp16", "--set", "compress=[fp16]"}};
  for (const auto& more : twice) {
    std::vector<std::string> line{"predict",    "--model", "gpt2", "--cluster",
                                  "p3-8xlarge", "--nodes", "2"};
    line.insert(line.end(), more.begin(), more.end());
    INFO(more[1] << " " << more[3]);
    const Captured run = test::payoff(line);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("1 error"));
    CHECK_THAT(run.err, ContainsSubstring("= note: "));
    CHECK_THAT(run.err, ContainsSubstring("argument 9"));
    CHECK_THAT(run.err, ContainsSubstring("argument 11"));
  }
  const auto fine =
      test::payoff({"predict", "--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "2",
                    "--compress", "powersgd", "--set", "compress.0.rank=2"});
  CHECK(fine.code == ExitCode::success);
}

TEST_CASE("a field of --observed is given once") {
  for (const char* text : {"step=300ms,step=200ms", "step=300ms,noise=2%,noise=3%"}) {
    const Captured run = test::payoff(words("predict", small_experiment({"--observed", text})));
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring("is given twice"));
    CHECK_THAT(run.err, ContainsSubstring("= note: the first is `"));
  }
}

TEST_CASE("what no machine has is refused with the range and what it is of") {
  const auto refused = [](const std::vector<std::string>& line, const std::string& range) {
    const Captured run = test::payoff(line);
    INFO(run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(range));
  };
  const std::string nic = "the rate of one NIC: 1 Kb/s to 1000 Tb/s";
  refused(words("predict", small_experiment({"--bandwidth", "1e300 Gb/s"})), nic);
  refused(words("predict", small_experiment({"--set", "cluster.inter.bandwidth=1e300 Gb/s"})), nic);
  refused(words("plot", small_experiment({"--x", "bandwidth", "--to", "1e30 Gb/s", "-o", "x.svg"})),
          nic);
  refused(words("predict", small_experiment({"--bucket", "1e9 GiB"})), "one bucket of gradients");
  refused(words("predict", small_experiment({"--observed", "step=1us"})), "one training step");
  refused({"collective", "all_reduce", "--cluster", "p3-8xlarge", "--sizes", "1e30GiB"},
          "one collective: 0 B to 1024 TiB");
  refused({"collective", "all_reduce", "--cluster", "dgx-h100", "--nodes", "1048576"},
          "1048576 nodes of 8 GPUs make 8388608 ranks; 1 to 1048576 are modelled");
}

TEST_CASE("the help of a value without a unit is in the form in which it was given") {
  const auto run = test::payoff(words("predict", small_experiment({"--bandwidth", "25"})));
  CHECK_THAT(run.err, ContainsSubstring("for example `'25 Gb/s'`"));
  CHECK(run.err.find("--set") == std::string::npos);
}

TEST_CASE("with options alone, the word is a term of the step") {
  const Captured run = test::payoff(words("explain", small_experiment({"exposed_dp"})));
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("exposed_dp: "));
}

TEST_CASE("mistakes are JSON wherever the format is asked for, also before a mistyped command") {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"predit", "--error-format", "json"},
        {"--error-format", "json", "predit"},
        {"--error-format=json", "predit", "--model"},
        {"--error-format", "json", "predict", "--modle", "x"}}) {
    const Captured run = test::payoff(line);
    CHECK(run.code == ExitCode::bad_input);
    const auto json = nlohmann::json::parse(run.err);
    CHECK(json["errors"].size() >= 1);
  }
  CHECK(test::payoff({"--error-format", "json", "profiles", "list", "gpu"}).code ==
        ExitCode::success);
}

TEST_CASE("an algorithm that is not to be had is refused with the reason") {
  const auto pinned = [](const char* cluster, const char* nodes, const char* algorithm) {
    const Captured run = test::payoff({"collective", "all_reduce", "--cluster", cluster, "--nodes",
                                       nodes, "--sizes", "1GiB", "--algo", algorithm});
    CHECK(run.code == ExitCode::bad_input);
    return run.err;
  };
  CHECK_THAT(pinned("dgx-h100", "2", "nvls"), ContainsSubstring("nvls is for one node"));
  CHECK_THAT(pinned("dgx-h100", "1", "nvls_tree"), ContainsSubstring("the group lies in one"));
  CHECK_THAT(pinned("p3-8xlarge", "1", "nvls"), ContainsSubstring("reduce nothing themselves"));
}
