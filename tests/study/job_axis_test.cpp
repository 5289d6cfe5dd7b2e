// SPDX-License-Identifier: Apache-2.0
#include "study/job_axis.hpp"

#include <vector>

#include "study/break_even.hpp"
#include "study/scaled_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

Experiment job_of(int layers) {
  return test::with_plans(test::small_job({.layers = layers}),
                          {test::shrink(4, 30), test::shrink_among(8, 4, 30)});
}

// At a line rate, of a job that is prepared for nothing else.
Seconds step_at(Experiment experiment, std::size_t plan, double nic) {
  experiment.cluster.nic = {nic};
  return PreparedExperiment(experiment).predict(experiment.plans[plan]).step;
}

}  // namespace

// Those of more than a thousand layers are not kept (study/job_axis.cpp).
TEST_CASE("a value of an axis is that of the job there, whether jobs are kept or not") {
  const RemedyLimits limits;
  for (const int layers : {12, 1200}) {
    const Experiment job = job_of(layers);
    const Experiment alone = without_plans(job);
    JobAxis axis(bandwidth_axis(alone), job.plans, limits, {});
    JobAxis given(bandwidth_axis(alone), job.plans, std::nullopt, {});
    for (const double nic : {1e9 / 8, 1e10 / 8, 1e9 / 8}) {
      INFO(layers << " layers at " << nic);
      Experiment there = alone;
      there.cluster.nic = {nic};
      CHECK(axis.step(0, nic) == step_at(job, 0, nic));
      CHECK(axis.step(1, nic) == step_at(job, 1, nic));
      CHECK_FALSE(axis.step(2, nic));  // of 16 workers
      CHECK(axis.rival_step(nic) == best_remedy(there, limits).step_per_batch());
      CHECK(given.rival_step(nic) == step_at(job, 0, nic));
    }
  }
}

TEST_CASE("what is said of a plan does not hang on the plans beside it") {
  std::vector<CompressionPlan> plans;
  for (int passes = 10; passes < 40; passes += 5) {
    plans.push_back(test::shrink(4, passes));
  }
  const Experiment job = test::small_job();
  const std::vector<BreakEven> together = break_evens(test::with_plans(job, plans));
  REQUIRE(together.size() == plans.size());
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    const BreakEven alone = break_evens(test::with_plans(job, {plans[plan]})).front();
    CHECK(together[plan].codec_time_now == alone.codec_time_now);
    CHECK(together[plan].wire_ratio_now == alone.wire_ratio_now);
    CHECK(together[plan].codec_time->intervals.size() == alone.codec_time->intervals.size());
    REQUIRE(together[plan].gpus->intervals.size() == alone.gpus->intervals.size());
    for (std::size_t i = 0; i < alone.gpus->intervals.size(); ++i) {
      CHECK(together[plan].gpus->intervals[i].low == alone.gpus->intervals[i].low);
      CHECK(together[plan].gpus->intervals[i].high == alone.gpus->intervals[i].high);
    }
  }
}
