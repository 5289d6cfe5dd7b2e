// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// arXiv 2507.03114 (abstract): on nodes of GPUs, overlapping slows computation down by 18.9 % on
// average and by 40.0 % at most. Whether the average is over all computation or over what runs
// beside messages is not said there, so simulated jobs have to hold it between the two.

using namespace payoff;
using nlohmann::json;
using payoff::test::Captured;

namespace {

struct SlowDown {
  double beside_messages{};  // of the work that runs while messages are in flight
  double of_all{};
};

// Sharded weights on one node of eight GPUs: gathers and scatters beside every layer.
SlowDown simulated(const std::string& cluster, const std::string& model, int micro_batch) {
  const Captured run = test::payoff({"simulate", "--model", model, "--cluster", cluster, "--dp",
                                     "8", "--micro-batch", std::to_string(micro_batch), "--set",
                                     "layout.zero=3", "--json"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  const json plan = json::parse(run.out)["plans"][0];
  const auto term = [&](const char* name) { return plan["waterfall"][name].get<double>(); };
  const double added = term("interference_seconds");
  const double beside = plan["traffic"]["dp"]["hidden_seconds"].get<double>();
  return {added / (beside - added),
          added / (term("forward_seconds") + term("backward_seconds") + term("recompute_seconds"))};
}

}  // namespace

TEST_CASE(
    "the published 18.9 % by which overlap slows computation lies between all work of jobs with "
    "sharded weights on a node and their work beside messages") {
  SlowDown mean;
  SlowDown most;
  int jobs = 0;
  for (const char* cluster : {"dgx-h100", "dgx-a100"}) {
    for (const char* model : {"gpt3-1.3b", "gpt3-2.7b", "gpt3-6.7b", "gpt3-13b", "llama-2-13b"}) {
      for (const int micro_batch : {1, 2, 4, 8}) {
        const SlowDown job = simulated(cluster, model, micro_batch);
        mean.beside_messages += job.beside_messages;
        mean.of_all += job.of_all;
        most.beside_messages = std::max(most.beside_messages, job.beside_messages);
        most.of_all = std::max(most.of_all, job.of_all);
        ++jobs;
      }
    }
  }
  mean.beside_messages /= jobs;
  mean.of_all /= jobs;
  std::printf("%d jobs: beside messages %.1f %% longer, %.1f %% at most; of all %.1f %%, %.1f %%\n",
              jobs, 100 * mean.beside_messages, 100 * most.beside_messages, 100 * mean.of_all,
              100 * most.of_all);
  CHECK(mean.of_all < 0.189);
  CHECK(mean.beside_messages > 0.189);
  CHECK(mean.beside_messages < 0.400);
  CHECK(most.of_all < 0.400);
  CHECK(most.of_all > 0.1);
  CHECK(most.beside_messages < 0.5);  // one of 40 jobs is beyond the published 40.0 %
}

TEST_CASE("backward of ResNets with DDP's hooks takes 1.04 to 1.1 times as long between V100s") {
  // Agarwal et al. 2022 timed loss.backward() with its hooks on 16 nodes of 4 V100 (1.04 to 1.1):
  // messages beside it, and PyTorch's copies of every tensor into buckets and back. The paper
  // prints two decimals: 1.04 is anything from 1.035.
  for (const char* model : {"resnet-50", "resnet-101"}) {
    for (const int micro_batch : {64, 32, 16}) {
      const Captured run =
          test::payoff({"simulate", "--model", model, "--cluster", "p3-8xlarge", "--nodes", "16",
                        "--dp", "64", "--micro-batch", std::to_string(micro_batch), "--precision",
                        "fp32", "--set", "software=pytorch-ddp-2021", "--json"});
      INFO(run.err << model << " " << micro_batch);
      REQUIRE(run.code == ExitCode::success);
      const json terms = json::parse(run.out)["plans"][0]["waterfall"];
      const double added =
          terms["interference_seconds"].get<double>() + terms["bucket_copy_seconds"].get<double>();
      const double slowdown = 1 + added / terms["backward_seconds"].get<double>();
      CHECK(slowdown > 1.035);
      CHECK(slowdown < 1.1);
    }
  }
}
