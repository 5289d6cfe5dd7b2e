// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <sstream>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "sim/trace.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"

// What a step takes around its work, and updates in backward, in both engines.

using namespace payoff;

namespace {

// Each in half of the plans, from far too short to matter to longer than the step.
StepOverheads random_overheads(test::Random& random) {
  StepOverheads overheads;
  if (random.chance(50)) {
    overheads.host_jitter = random.time(0_s, 2_ms);
  }
  if (random.chance(50)) {
    overheads.data.time = random.time(0_s, 200_ms);
    overheads.data.prefetch = random.chance(70);
  }
  if (random.chance(50)) {
    CheckpointTimes& checkpoint = overheads.checkpoint;
    checkpoint.every = random.integer(1, 20);
    checkpoint.write = random.time(0_s, Seconds{1});
    checkpoint.asynchronous = random.chance(50);
    checkpoint.copy = checkpoint.asynchronous ? random.time(0_s, 50_ms) : 0_s;
  }
  return overheads;
}

void update_in_backward(test::Random& random, StepPlan& plan) {
  for (BucketKind& kind : plan.kinds) {
    const Seconds update = random.time(0_s, 2_ms);
    kind.decode.alone += update;
    kind.decode.update = update;
  }
  for (StagePlan& stage : plan.stages) {
    stage.optimizer = {WorkKind::optimizer};
  }
}

void check_agreement(const StepPlan& plan) {
  const sim::SimulatedStep simulated = sim::simulate(plan, {});
  const StepPrediction evaluated = evaluate(plan);
  const Waterfall& ours = simulated.prediction.waterfall;
  const Waterfall& theirs = evaluated.waterfall;
  // As tests/sim/agreement_test: 1e-8 is observed where something is slowed, ticks elsewhere.
  CHECK(std::abs(simulated.prediction.step / evaluated.step - 1) <= 1e-7);
  CHECK(std::abs(theirs.total() / evaluated.step - 1) <= 1e-12);
  for (const auto term :
       {&Waterfall::host_jitter, &Waterfall::data_stall, &Waterfall::checkpoint}) {
    CHECK(std::abs((ours.*term - theirs.*term) / evaluated.step) <= 1e-7);
  }
  if (plan.stages.size() == 1) {
    for (const auto term : {&Waterfall::optimizer, &Waterfall::decode, &Waterfall::bucket_copy,
                            &Waterfall::exposed_dp, &Waterfall::interference}) {
      CHECK(std::abs((ours.*term - theirs.*term) / evaluated.step) <= 1e-7);
    }
  }
  Seconds path;
  for (const Seconds share : simulated.critical_path) {
    path += share;
  }
  CHECK(std::abs(path / simulated.prediction.step - 1) <= 1e-12);
}

}  // namespace

TEST_CASE("the engines agree on what a step takes around its work") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    test::Random random(1000 + seed);
    StepPlan plan =
        seed % 2 == 0 ? test::random_replicas(seed).plan : test::random_pipeline(seed).plan;
    plan.overheads = random_overheads(random);
    check_agreement(plan);
  }
}

TEST_CASE("the engines agree on updates in backward") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    test::Random random(2000 + seed);
    StepPlan plan =
        seed % 2 == 0 ? test::random_replicas(seed).plan : test::random_pipeline(seed).plan;
    update_in_backward(random, plan);
    check_agreement(plan);
  }
}

// Bucket 0 is ready after 1 ms and travels until 11; bucket 1, ready after 2, until 21. The first
// update runs beside the second message.
TEST_CASE("of two buckets the first one's update hides behind the second one's message") {
  StepPlan plan;
  plan.overlap = true;
  plan.stages.emplace_back().compute =
      std::make_shared<const StageCompute>(test::compute_of({1_ms}, {1_ms, 1_ms}));
  for (int bucket = 0; bucket < 2; ++bucket) {
    test::add_bucket(plan, 0, bucket, {}, test::gradients(10_ms), 2_ms);
    plan.kinds.back().decode.update = 2_ms;
  }
  const StepPrediction step = evaluate(plan);
  CHECK(std::abs(step.step / (1_ms + 21_ms + 2_ms) - 1) < 1e-12);
  CHECK(std::abs(step.waterfall.optimizer / 4_ms - 1) < 1e-12);
  CHECK(step.waterfall.decode == 0_s);
  check_agreement(plan);
}

TEST_CASE("a step without overheads has no events for them") {
  const StepPlan plan = test::random_replicas(3).plan;
  StepPlan later = plan;
  later.overheads.data.time = 1_us;  // there before the step ends
  const sim::SimulatedStep without = sim::simulate(plan, {});
  const sim::SimulatedStep with = sim::simulate(later, {});
  CHECK(without.events == with.events);
  CHECK(without.trace_hash == with.trace_hash);
  CHECK(without.prediction.step == with.prediction.step);
}

TEST_CASE("a timeline shows what a step waits for at its end") {
  StepPlan plan = test::random_replicas(4).plan;
  plan.overheads.host_jitter = 1_ms;
  plan.overheads.data = {Seconds{1}, true};
  std::ostringstream text;
  sim::TraceWriter trace(text);
  (void)sim::simulate(plan, {}, {.trace = &trace});
  trace.finish();
  CHECK(text.str().find("\"host_jitter\"") != std::string::npos);
  CHECK(text.str().find("\"data_stall\"") != std::string::npos);
  CHECK(text.str().find("\"checkpoint\"") == std::string::npos);
}
