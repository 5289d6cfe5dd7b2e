// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/experiment.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Measured times of layers in place of the compute model's (model/layer_times.hpp).

namespace {

constexpr int blocks = 4;

// 16 GPUs on nodes of four; every layer measured.
Experiment job_with(int tp, int pp, PipelineSchedule schedule, Recompute recompute) {
  Experiment job = test::small_job({});
  job.model = test::gpt(blocks, 512, 8, 256, 32000);
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.layout.tp = tp;
  job.layout.pp = pp;
  job.layout.dp = 16 / tp / pp;
  job.layout.micro_batch = 2;
  job.layout.micro_batches = 8;
  job.layout.schedule = schedule;
  job.layout.recompute = recompute;
  const auto time = [&](const std::string& layer, Seconds forward, Seconds backward) {
    job.layer_times.push_back({layer, 2, tp, 1, 1, 1, forward, backward});
  };
  time("embedding", 0.5_ms, 0.25_ms);
  time("block", 3_ms, 7_ms);
  time("block 2", 4_ms, 11_ms);
  time("head", 2_ms, 5_ms);
  return job;
}

}  // namespace

TEST_CASE("a measured layer takes what was measured, however it is cut") {
  const auto schedule = GENERATE(PipelineSchedule::one_f_one_b, PipelineSchedule::zb_h1);
  const int tp = GENERATE(1, 2);
  const Experiment job = job_with(tp, 2, schedule, Recompute::none);
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  CHECK_THAT(plan.stages[0].compute->forward_work / 1_ms, WithinRel(0.5 + 3 + 3, 1e-12));
  CHECK_THAT(plan.stages[1].compute->forward_work / 1_ms, WithinRel(4.0 + 3 + 2, 1e-12));
  CHECK_THAT(plan.stages[0].compute->backward_work / 1_ms, WithinRel(0.25 + 7 + 7, 1e-12));
  CHECK_THAT(plan.stages[1].compute->backward_work / 1_ms, WithinRel(11.0 + 7 + 5, 1e-12));
  const double simulated = sim::simulate(plan, {}).prediction.step / 1_s;
  CHECK_THAT(prepared.predict(plan).step / 1_s, WithinRel(simulated, 1e-3));
}

TEST_CASE("blocks that are computed again take their measured forward once more") {
  const Experiment job = job_with(1, 2, PipelineSchedule::one_f_one_b, Recompute::full);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  CHECK_THAT(plan.stages[0].compute->recompute_work / 1_ms, WithinRel(6.0, 1e-12));
  CHECK_THAT(plan.stages[1].compute->recompute_work / 1_ms, WithinRel(7.0, 1e-12));
}

TEST_CASE("layers that were not measured keep their price") {
  Experiment job = job_with(1, 1, PipelineSchedule::one_f_one_b, Recompute::none);
  job.layer_times = {{"head", 2, 1, 1, 1, 1, 1_s, 2_s}};
  Experiment priced = job;
  priced.layer_times.clear();
  Experiment head = priced;
  head.layer_times = {{"head", 2, 1, 1, 1, 1, 3_s, 2_s}};
  const auto forward = [](const Experiment& of) {
    const PreparedExperiment prepared(of);
    return prepared.plan(of.plans.front()).stages.front().compute->forward_work;
  };
  CHECK_THAT((forward(head) - forward(job)) / 1_s, WithinRel(2.0, 1e-9));
  CHECK(forward(job) - 1_s < forward(priced));
  CHECK(forward(job) > 1_s);
}

TEST_CASE("times of other sizes than the layout's are refused, each layer once") {
  Experiment job = job_with(1, 1, PipelineSchedule::one_f_one_b, Recompute::none);
  job.layer_times.push_back({"head", 4, 1, 1, 1, 1, 4_ms, 9_ms});
  CHECK(check(job).empty());
  job.layout.micro_batch = 4;
  const Problems problems = check(job);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].path == "model.layer_times");
  CHECK(problems[0].message == "`embedding` was not measured at micro-batch 4, tp 1");
  CHECK(problems[0].help == "measured: micro-batch 2, tp 1");
  CHECK(problems[2].message == "`block 2` was not measured at micro-batch 4, tp 1");
}
