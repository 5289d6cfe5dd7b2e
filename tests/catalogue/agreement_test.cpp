// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
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
  CHECK(compared >= 2 * 60);  // no method without it
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
