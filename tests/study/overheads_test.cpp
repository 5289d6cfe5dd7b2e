// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// What a step takes around its work (data, hosts, checkpoints), and updates in backward, from the
// job to the waterfall.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

StepPrediction predicted(const Experiment& experiment) {
  REQUIRE(check(experiment).empty());
  return PreparedExperiment(experiment).predict(experiment.plans.front());
}

StepPlan plan_of(const Experiment& experiment) {
  return PreparedExperiment(experiment).plan(experiment.plans.front());
}

Experiment checkpointed(Checkpointing checkpoint) {
  Experiment job = test::small_job();
  job.training.checkpoint = checkpoint;
  return job;
}

// Weights in fp32, and 4 bytes of states.
Bytes state_of(const Experiment& experiment) {
  return static_cast<double>(workload_of(experiment)->parameters()) * 8_B;
}

}  // namespace

TEST_CASE("data that is made beside the step before costs what exceeds that step") {
  Experiment job = test::small_job();
  const StepPrediction before = predicted(job);
  job.training.data.time = 0.9 * before.step;
  CHECK(predicted(job).step == before.step);
  job.training.data.time = 1.5 * before.step;
  const StepPrediction stalled = predicted(job);
  CHECK_THAT(stalled.step / before.step, WithinRel(1.5, 1e-12));
  CHECK_THAT(stalled.waterfall.data_stall / before.step, WithinRel(0.5, 1e-12));
  CHECK_THAT(stalled.waterfall.total() / stalled.step, WithinRel(1.0, 1e-12));
  job.training.data.prefetch = false;
  CHECK_THAT(predicted(job).step / before.step, WithinRel(2.5, 1e-12));
}

// What communication gives back, the input pipeline takes: a step is never shorter than its data.
TEST_CASE("where data is the bottleneck, compression gains nothing") {
  Experiment job = test::with_plans(test::small_job({.nic = 1_Gbps}), {test::shrink(100, 0)});
  const PreparedExperiment without(job);
  const Seconds dense = without.predict(job.plans[0]).step;
  REQUIRE(without.predict(job.plans[1]).step < dense);
  job.training.data.time = 2.0 * dense;
  const PreparedExperiment with(job);
  CHECK(with.predict(job.plans[0]).step == with.predict(job.plans[1]).step);
}

TEST_CASE("a step waits for the latest of all its ranks") {
  Experiment job = test::small_job();
  const StepPrediction before = predicted(job);
  job.training.host_jitter = {JitterLaw::exponential, 1_ms};
  double harmonic = 0.0;
  for (int rank = 1; rank <= job.layout.ranks(); ++rank) {
    harmonic += 1.0 / rank;
  }
  REQUIRE(job.layout.ranks() == 16);
  CHECK_THAT((predicted(job).step - before.step) / 1_ms, WithinRel(harmonic, 1e-9));
}

TEST_CASE("a checkpoint that is written in between costs its bytes over the storage's bandwidth") {
  Experiment job = test::small_job();
  const StepPrediction before = predicted(job);
  job = checkpointed({.every = 50, .storage = 2_GBps});
  const Seconds written = state_of(job) / 2_GBps;
  const StepPrediction with = predicted(job);
  CHECK_THAT(with.waterfall.checkpoint / (written / 50.0), WithinRel(1.0, 1e-12));
  CHECK_THAT((with.step - before.step) / (written / 50.0), WithinRel(1.0, 1e-9));
}

TEST_CASE("an asynchronous checkpoint costs its copy, and what the steps in between leave of it") {
  const Seconds step = predicted(test::small_job()).step;
  Experiment job =
      checkpointed({.every = 10, .storage = 1_GBps, .asynchronous = true, .host_copy = 20_GBps});
  const Bytes state = state_of(job);
  const Seconds copy = state / 20_GBps;
  job.training.checkpoint.storage = state / (9.0 * step);  // written within ten steps
  CHECK_THAT(predicted(job).waterfall.checkpoint / (copy / 10.0), WithinRel(1.0, 1e-12));
  job.training.checkpoint.storage = state / (14.0 * step);  // four steps too long
  CHECK_THAT(predicted(job).waterfall.checkpoint / ((copy + 4.0 * step) / 10.0),
             WithinRel(1.0, 1e-9));
}

TEST_CASE("however its states are sharded, a job writes them once, and a GPU copies its part") {
  const auto times = [](int zero) {
    Experiment job =
        checkpointed({.every = 10, .storage = 1_GBps, .asynchronous = true, .host_copy = 20_GBps});
    job.layout.zero = zero;
    return plan_of(job).overheads.checkpoint;
  };
  const CheckpointTimes whole = times(0);
  for (int zero = 1; zero <= 3; ++zero) {
    CHECK(times(zero).write == whole.write);
  }
  // 16 ranks; with zero 1 and 2 each has all weights, half of what is kept.
  CHECK_THAT(times(2).copy / whole.copy, WithinRel((1.0 + 1.0 / 16) / 2, 1e-12));
  CHECK_THAT(times(3).copy / whole.copy, WithinRel(1.0 / 16, 1e-12));
}

TEST_CASE("updates in backward have the traffic of one update, and a launch for each bucket") {
  Experiment job = test::small_job();
  const StepPlan after = plan_of(job);
  job.software.optimizer_in_backward = true;
  const StepPlan within = plan_of(job);
  CHECK(within.stages.front().optimizer.alone == 0_s);
  Seconds updates;
  for (const Bucket& bucket : within.buckets(0)) {
    updates += within.kind(bucket).decode.update;
  }
  const double more = static_cast<double>(within.buckets(0).size()) - 1.0;
  const Seconds launches = more * job.cluster.gpu.law.launch;
  CHECK_THAT(updates / (after.stages.front().optimizer.alone + launches), WithinRel(1.0, 1e-9));
}

TEST_CASE("updates in backward hide behind the messages of later buckets") {
  Experiment job = test::small_job({.nic = 1_Gbps});
  const StepPrediction after = predicted(job);
  job.software.optimizer_in_backward = true;
  const StepPrediction within = predicted(job);
  CHECK(within.step < after.step);
  CHECK(within.waterfall.exposed_dp < after.waterfall.exposed_dp);
  CHECK_THAT(within.waterfall.total() / within.step, WithinRel(1.0, 1e-12));
}

TEST_CASE("where every micro-batch reduces sharded gradients, the update waits for the last one") {
  Experiment job = test::small_job();
  job.software.optimizer_in_backward = true;
  job.layout.zero = 3;
  CHECK(plan_of(job).stages.front().optimizer.alone == 0_s);
  job.layout.micro_batches = 2;
  CHECK(plan_of(job).stages.front().optimizer.alone > 0_s);
}
