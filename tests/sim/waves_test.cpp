// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/interference.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/sim/plans.hpp"
#include "tests/study/experiments.hpp"

// Kernels of known blocks in a step, beside messages, in both engines.

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double ring = 24.0 / 132.0;  // channels of an all-gather beside, and units of an H100

// One stage; the second piece of backward, a millisecond, has all of a message beside it.
StepPlan beside_a_message(const KernelMix& mix, double held = ring) {
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  StageCompute compute = test::compute_of({1_ms}, {1_ms, 1_ms});
  auto waves = std::make_shared<WaveTable>(132);
  compute.backward.back().work.mix = waves->add(mix);
  plan.waves = waves;
  plan.stages[0].compute = std::make_shared<const StageCompute>(std::move(compute));
  plan.reserved_share = held;
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(10_ms), 0_s);
  return plan;
}

// What the message adds to the piece, by both engines.
struct Added {
  Seconds model;
  Seconds events;
};
Added added(const StepPlan& plan) {
  return {evaluate(plan).waterfall.interference,
          sim::simulate(plan, {}).prediction.waterfall.interference};
}

// Layers of one product each whose forward and only backward product fill one wave of 132 units.
Workload full_waves(int layers) {
  Workload workload;
  workload.name = "full waves";
  Layer layer;
  layer.forward.push_back({.kind = OperatorKind::gemm,
                           .rows_per_sample = 2816,
                           .columns = 1536,
                           .depth = 2816,
                           .input_gradient = false});
  layer.parameters = {{2816, 1536, true}};
  workload.layers.assign(static_cast<std::size_t>(layers), layer);
  return workload;
}

}  // namespace

// NVIDIA developer forum 337991: on H100 a product of 132 blocks beside an all-gather of 24 "nearly
// doubles". By the rate of free units it would take 132 / 108 = 1.22 times as long.
TEST_CASE("a step's product of one full wave takes twice as long beside a message of 24 channels") {
  const Added more = added(beside_a_message({1_ms, {{132, 1_ms}}}));
  CHECK_THAT(more.model / 1_ms, WithinRel(1.0, 1e-9));
  CHECK_THAT(more.events / 1_ms, WithinRel(1.0, 1e-9));
}

TEST_CASE("a step's product that fits into the units left is not slowed, an unknown one by them") {
  const Added fits = added(beside_a_message({1_ms, {{108, 1_ms}}}));
  CHECK(fits.model / 1_ms < 1e-9);
  CHECK(fits.events / 1_ms < 1e-9);
  const Added unknown = added(beside_a_message({1_ms, {}}));
  CHECK_THAT(unknown.model / 1_ms, WithinRel(132.0 / 108.0 - 1, 1e-9));
  CHECK_THAT(unknown.events / 1_ms, WithinRel(132.0 / 108.0 - 1, 1e-9));
}

TEST_CASE("a codec on its side stream runs in the tails of a step's products, in both engines") {
  // 1 ms of a product whose last wave leaves 99 of 264 places, beside 2 ms of a codec: the product
  // takes turns of a half, 2 ms, and the codec does 1 + 99 / 264 ms of its work meanwhile. Of
  // unknown blocks it does 1 ms.
  const bool known = GENERATE(true, false);
  StepPlan plan = beside_a_message({1_ms, {{165, 1_ms}}}, 0.0);
  if (!known) {
    plan.waves = nullptr;
    auto compute = std::make_shared<StageCompute>(*plan.stages[0].compute);
    compute->backward.back().work.mix = 0;
    plan.stages[0].compute = compute;
  }
  plan.placement = Placement::side_stream;
  plan.kinds[0].rounds[0].encode.alone = 2_ms;
  plan.kinds[0].rounds[0].message.alone = 0_s;
  const double left = known ? 1.0 - 99.0 / 264.0 : 1.0;
  const Seconds step = sim::simulate(plan, {}).prediction.step;
  CHECK_THAT(step / 1_ms, WithinRel(1 + 1 + 2 + left, 1e-9));
  CHECK_THAT(evaluate(plan).step / step, WithinRel(1.0, 1e-9));
}

TEST_CASE("a codec beside compute shares the memory where the prior lets both have all units") {
  // Quantile 0: neither slows the other's units. Both stream: each gets half of the memory.
  StepPlan plan = beside_a_message({1_ms, {}}, 0.0);
  plan.pair_quantile = 0.0;
  auto compute = std::make_shared<StageCompute>(*plan.stages[0].compute);
  compute->backward.back().work.memory_share = 1.0;
  plan.stages[0].compute = compute;
  plan.placement = Placement::side_stream;
  plan.kinds[0].rounds[0].encode = {WorkKind::encode, 1_ms, {}, 1.0};
  plan.kinds[0].rounds[0].message.alone = 0_s;
  const Seconds step = sim::simulate(plan, {}).prediction.step;
  CHECK_THAT(step / 1_ms, WithinRel(1 + 1 + 2.0, 1e-9));
  CHECK_THAT(evaluate(plan).step / step, WithinRel(1.0, 1e-9));
}

TEST_CASE("waves are counted again when a message ends within the work") {
  // 1 ms of one wave, 0.8 ms of them beside the message: 0.4 ms are done by then, 0.6 are left.
  StepPlan plan = beside_a_message({1_ms, {{132, 1_ms}}});
  plan.kinds[0].rounds[0].message.alone = 0.8_ms;
  const Added more = added(plan);
  CHECK_THAT(more.model / 1_ms, WithinRel(0.4, 1e-9));
  CHECK_THAT(more.events / 1_ms, WithinRel(0.4, 1e-9));
}

TEST_CASE("more channels never shorten a step of known kernels, in either engine") {
  const KernelMix mix{1_ms, {{132, 0.2_ms}, {264, 0.3_ms}, {500, 0.25_ms}}};
  constexpr Seconds tick{1e-12};
  Added before{};
  for (int channels = 0; channels <= 66; channels += 3) {
    const Added now = added(beside_a_message(mix, channels / 132.0));
    CHECK(now.model >= before.model - tick);
    CHECK(now.events >= before.events - tick);
    before = now;
  }
  CHECK(before.model <= 1_ms + tick);
}

TEST_CASE("a job of products of one full wave takes twice as long beside gathers of its weights") {
  // Sharded weights: while one layer computes, those of the next one travel, on 24 channels.
  constexpr int layers = 6;
  Experiment job = test::small_job();
  job.cluster.gpu = test::ideal_gpu();
  job.cluster.gpu.compute_units = 132;
  job.cluster.gpu.architecture = Architecture::hopper;
  job.software.host_per_step = {};
  job.model = full_waves(layers);
  job.layout.zero = 3;
  job.layout.micro_batch = 1;
  job.training.precision = Precision::bf16;
  job.training.bucket = 1_MiB;  // a unit a layer
  const PreparedExperiment prepared(job);
  StepPlan plan = prepared.plan(job.plans[0]);
  const std::vector<Piece>& forward = plan.stages[0].compute->forward;
  REQUIRE(forward.size() == layers);
  const Seconds work = forward.front().work.alone;
  plan.reserved_share = ring;
  for (BucketKind& kind : plan.kinds) {
    for (BucketRound& round : kind.rounds) {
      round.message.memory_share = 0.0;
      round.message.alone = is_of_weights(kind) ? 2.0 * work : 0_s;
    }
  }
  // The last layer of a pass has nothing left to fetch; backward takes what forward does.
  const Seconds beside = 2.0 * (layers - 1) * work;
  const Added more = added(plan);
  CHECK_THAT(more.model / beside, WithinRel(1.0, 1e-6));
  CHECK_THAT(more.events / beside, WithinRel(1.0, 1e-6));
}

TEST_CASE("a later stage ends last where a codec that gives way slows it all the while") {
  // The last stage: 100 ms of backward in two halves, beside the second one 4 ms of codec, which
  // may slow it to 100 ms (quantile 1) and gets 1 of 128 parts: 3.2 ms are left. The first stage
  // has 0.1 ms of backward after that, and no gradients.
  StepPlan plan = test::pipeline(2, 1, 1, 1_ms, 0.1_ms);
  StageCompute last = *plan.stages[1].compute;
  last.backward = test::compute_of({}, {50_ms, 50_ms}).backward;
  last.backward_work = 100_ms;
  plan.stages[1].compute = std::make_shared<const StageCompute>(last);
  test::add_bucket(plan, 1, 0, 4_ms, test::gradients(1_us), 0_s);
  plan.placement = Placement::low_priority_stream;
  plan.pair_quantile = 1.0;
  const double left = 4 - 100 * starved_rate;
  CHECK_THAT(evaluate(plan).step / 1_ms, WithinAbs(1 + 1 + 50 + 100 + left + 0.001, 0.01));
  CHECK_THAT(sim::simulate(plan, {}).prediction.step / 1_ms,
             WithinAbs(1 + 1 + 50 + 100 + left + 0.001, 0.01));
}
