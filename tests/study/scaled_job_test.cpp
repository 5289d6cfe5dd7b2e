// SPDX-License-Identifier: Apache-2.0
#include "study/scaled_job.hpp"

#include <vector>

#include "study/break_even.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

// Groups of 24 ranks hold the weights between them; a node has four.
Experiment job_in_groups() {
  Experiment job = test::small_job({.nodes = 24});
  job.layout.zero = 1;
  job.layout.shard = 24;
  return job;
}

}  // namespace

TEST_CASE("a job grows by whole groups that share its weights, and by no less") {
  const Experiment job = job_in_groups();
  const ScalingStep step = scaling_step(job);
  CHECK(step.replicas == 24);
  CHECK(step.nodes == 6);
  for (int dp = 4; dp <= 240; dp += 4) {
    INFO(dp);
    CHECK(with_dp(job, dp).has_value() == (dp % 24 == 0));
  }
}

TEST_CASE("without groups a job grows by the nodes that hold whole replicas") {
  Experiment job = test::small_job();
  CHECK(scaling_step(job).nodes == 1);
  CHECK(scaling_step(job).replicas == 4);
  job.layout.shard = 24;  // of nothing, without zero
  CHECK(scaling_step(job).replicas == 4);
}

TEST_CASE(
    "where groups share weights, the GPUs that pay have those of the job as its verdict does") {
  CompressionPlan plan = test::shrink(16, 1);
  plan.method->elementwise = true;  // others want the whole gradient
  const Experiment job = test::with_plans(job_in_groups(), {plan});
  REQUIRE(problems_of_plan(job, 1).empty());
  const PreparedExperiment prepared(job);
  const bool pays = prepared.predict(job.plans[0]).step > prepared.predict(job.plans[1]).step;
  const std::vector<BreakEven> marks = break_evens(job, {.band = 0.0, .most_gpus = 2048});
  REQUIRE(marks.size() == 1);
  REQUIRE(marks[0].gpus);
  CHECK(marks[0].gpus->contains(96) == pays);
  CHECK_FALSE(marks[0].most_gpus);  // it goes on: 2064 is possible
  CHECK(with_dp(job, 2064));
}
