// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Every method of the catalogue that compresses gradients, through both engines, alone on its
// resources: they may differ by one tick (1 ps) for each activity of the critical path.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

CompressionPlan plan_of(const std::string& name, const Method& method) {
  CompressionPlan plan;
  plan.label = name;
  plan.method = method;
  return plan;
}

bool compresses_gradients(const MethodProfile& profile) {
  const std::vector<std::string>& traffic = profile.notes.traffic;
  return traffic.empty() ||
         std::find(traffic.begin(), traffic.end(), "dp_gradients") != traffic.end();
}

}  // namespace

TEST_CASE("the engines agree to the tick on every method of the catalogue") {
  int compared = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    if (!compresses_gradients(profile)) {
      continue;
    }
    for (const Placement placement : {Placement::compute_stream, Placement::after_backward}) {
      CompressionPlan compression = plan_of(name, profile.profile.value);
      compression.placement = placement;
      Experiment job = test::with_plans(test::small_job(), {compression});
      job.cluster.gpu.architecture = Architecture::hopper;  // NCCL adds every format there
      job.cluster.host.cores = 48;
      job.layout.zero = compression.method->scatters ? 1 : 0;
      INFO(name << (placement == Placement::after_backward ? " after backward" : ""));
      REQUIRE(check(job).empty());
      StepPlan plan = PreparedExperiment(job).plan(job.plans.back());
      plan.reserved_share = 0;  // messages hold no compute units: nothing is contended
      const sim::SimulatedStep simulated = sim::simulate(plan, {});
      const Seconds evaluated = evaluate(plan).step;
      const double ticks = std::abs(simulated.prediction.step.si - evaluated.si) * 1e12;
      CHECK(ticks <= static_cast<double>(simulated.path_activities));
      CHECK(evaluated > 0_s);
      ++compared;
    }
  }
  // No method without it: those that compress no gradients are in the tests of activations and of
  // weights, which run all of theirs.
  const auto others = [](const MethodProfile& profile) {
    const std::vector<std::string>& traffic = profile.notes.traffic;
    return !traffic.empty() && std::all_of(traffic.begin(), traffic.end(), [](const auto& kind) {
      return kind == "dp_weights" || kind.ends_with("_activations") || kind.starts_with("ep_") ||
             kind == "embeddings";
    });
  };
  const auto of_others = std::count_if(test::catalogue().begin(), test::catalogue().end(),
                                       [&](const auto& entry) { return others(entry.second); });
  CHECK(compared == 2 * (static_cast<int>(test::catalogue().size()) - of_others));
}

TEST_CASE("a plan that compresses nothing of the model is refused, naming the largest layer") {
  // The layers of the job are 2,048 x 2,048 with a bias: 4 (r + r) min_compression_rate 2 < r^2
  // fails from rank 512 on.
  const Method method = test::method("powersgd", {{"rank", 512}});
  const Experiment job =
      test::with_plans(test::small_job(), {plan_of("powersgd:rank=512", method)});
  const Problems problems = check(job);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].path == "compress.0");
  CHECK_THAT(problems[0].message,
             ContainsSubstring("`powersgd:rank=512` compresses nothing of the model") &&
                 ContainsSubstring("`layer 0` (2048 x 2048)"));
  const Method below = test::method("powersgd", {{"rank", 511}});
  CHECK(check(test::with_plans(test::small_job(), {plan_of("powersgd:rank=511", below)})).empty());
}

TEST_CASE("a rank that no matrix of the model has is refused, naming the largest layer") {
  // The paper's own code takes the smaller of the rank and the matrix's sides, and compresses every
  // matrix: nothing gets larger, and nothing is as it was asked for.
  const auto problems = [](const char* name, double rank) {
    const Method method = test::method(name, {{"rank", rank}});
    return check(test::with_plans(test::small_job(), {plan_of("low rank", method)}));
  };
  CHECK(problems("powersgd_reducer", 2048).empty());
  for (const char* name : {"powersgd_reducer", "acpsgd"}) {
    INFO(name);
    REQUIRE(problems(name, 2049).size() == 1);
    CHECK_THAT(problems(name, 2049)[0].message, ContainsSubstring("`layer 0` (2048 x 2048)"));
  }
  CHECK_THAT(problems("powersgd_reducer", 2049)[0].message,
             ContainsSubstring("asks for more than any tensor of the model has"));
}

TEST_CASE("a plan that names buckets without a matrix is refused, naming the layer") {
  // Buckets of a single tensor: a matrix and a bias for each of 12 layers, the last layer's first.
  Experiment job =
      test::with_plans(test::small_job(), {plan_of("low rank", test::method("powersgd"))});
  job.training.first_bucket = 1_KiB;
  job.training.bucket = 1_KiB;
  REQUIRE(PreparedExperiment(job).most_buckets() == 24);
  int refused = 0;
  for (std::int64_t bucket = 0; bucket < 24; ++bucket) {
    job.plans.back().buckets.ranges = {{bucket, bucket}};
    const Problems problems = check(job);
    refused += static_cast<int>(problems.size());
    if (!problems.empty()) {
      const std::string layer = "layer " + std::to_string(11 - bucket / 2);
      CHECK(problems[0].path == "compress.0");
      CHECK_THAT(problems[0].message,
                 ContainsSubstring("compresses nothing of bucket " + std::to_string(bucket) +
                                   ", which `" + layer + "` completes"));
    }
  }
  CHECK(refused == 12);
  job.plans.back().buckets.ranges = {{0, 1}};
  CHECK(check(job).empty());
}

TEST_CASE("a method whose sums a switch makes leaves no other to make them") {
  Experiment job = test::with_plans(test::small_job(), {plan_of("sums", test::method("switchml"))});
  CHECK(check(job).empty());
  job.layout.dp_collective = AllReduceBy::sharp;
  const auto of_switch = [](const Problem& problem) {
    return problem.message.find("has its sums made in the network") != std::string::npos;
  };
  const Problems problems = check(job);
  CHECK(std::count_if(problems.begin(), problems.end(), of_switch) == 1);
  // Of integers alone any sum is right.
  job.plans.back() = plan_of("sums", test::method("intsgd"));
  const Problems integers = check(job);
  CHECK(std::none_of(integers.begin(), integers.end(), of_switch));
}
