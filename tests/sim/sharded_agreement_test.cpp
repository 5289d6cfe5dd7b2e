// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"

// Sharded weights (zero 3) in both engines.

using namespace payoff;

namespace {

Message gather_of(Seconds alone) {
  return {MessageKind::dp_weights, Collective::all_gather, 1_MB, alone, 0, 0};
}

std::size_t add_kind(StepPlan& plan, Seconds encode, const Message& message, Seconds decode) {
  BucketKind kind;
  kind.rounds.push_back({{WorkKind::encode, encode, {}}, message});
  kind.decode = {WorkKind::decode, decode, {}};
  plan.kinds.push_back(std::move(kind));
  return plan.kinds.size() - 1;
}

// `units` units of one piece each way; every unit is gathered in both directions.
StepPlan uniform(int units, int micro_batches, Seconds forward, Seconds gather, Seconds scatter) {
  const auto pieces = static_cast<std::size_t>(units);
  StepPlan plan;
  plan.layout.micro_batches = micro_batches;
  plan.overlap = true;
  plan.reduces_every_micro_batch = true;
  StagePlan& stage = plan.stages.emplace_back();
  stage.compute = std::make_shared<const StageCompute>(test::compute_of(
      std::vector<Seconds>(pieces, forward), std::vector<Seconds>(pieces, 2.0 * forward)));
  for (int unit = 0; unit < units; ++unit) {
    test::add_bucket(plan, 0, unit, {}, test::gradients(scatter), {});
  }
  const std::size_t kind = add_kind(plan, {}, gather_of(gather), {});
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    plan.stages[0].forward_gathers.push_back({piece, kind});
    plan.stages[0].backward_gathers.push_back({piece, kind});
  }
  return plan;
}

StepPlan random_plan(std::uint64_t seed) {
  test::Random random(seed);
  const int units = random.integer(1, 6);
  StepPlan plan = uniform(units, random.integer(1, 4), {}, {}, {});
  plan.overlap = random.chance(85);
  plan.placement = static_cast<Placement>(random.integer(0, 2));
  plan.reserved_share = random.chance(80) ? random.between(0.01, 0.4) : 0.0;
  plan.host = random.time(0_s, 1_ms);
  StageCompute compute;
  const bool codec = random.chance(50);
  const auto codec_time = [&] { return codec ? random.time(1_us, 500_us) : Seconds{}; };
  plan.kinds.clear();
  StagePlan& stage = plan.stages[0];
  stage.buckets.clear();
  stage.forward_gathers.clear();
  stage.backward_gathers.clear();
  stage.optimizer = {WorkKind::optimizer, random.time(0_s, 1_ms), {}};
  const bool root = random.chance(50);  // kept from forward to backward
  for (int unit = 0; unit < units; ++unit) {
    // One after the other: compilers evaluate arguments in orders of their own.
    const Seconds pack = codec_time();
    const Message gather = gather_of(random.time(10_us, 4_ms));
    const Seconds unpack = codec_time();
    const std::size_t kind = add_kind(plan, pack, gather, unpack);
    stage.forward_gathers.push_back({compute.forward.size(), kind});
    if (!root || unit > 0) {
      stage.backward_gathers.push_back({compute.backward.size(), kind});
    }
    for (int piece = random.integer(1, 3); piece > 0; --piece) {
      const Seconds time = random.time(10_us, 3_ms);
      const Message tp = test::gradients(random.chance(30) ? random.time(1_us, 1_ms) : Seconds{});
      compute.forward.push_back({{WorkKind::forward, time, {}}, tp});
      compute.forward_work += time;
      compute.forward_messages += tp.alone;
      compute.backward.push_back({{WorkKind::backward, 2.0 * time, {}}, {}});
      compute.backward_work += 2.0 * time;
    }
    const Seconds encode = codec_time();
    const Message scatter = test::gradients(random.time(10_us, 4_ms));
    const Seconds decode = codec_time();
    test::add_bucket(plan, 0, static_cast<int>(compute.backward.size()) - 1, encode, scatter,
                     decode);
  }
  stage.compute = std::make_shared<const StageCompute>(std::move(compute));
  return plan;
}

}  // namespace

TEST_CASE("the engines agree on random plans with sharded weights") {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const StepPlan plan = random_plan(seed);
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    const StepPrediction evaluated = evaluate(plan);
    INFO("seed " << seed);
    CHECK(std::abs(simulated.prediction.step / evaluated.step - 1) <= 1e-9);
    const Seconds exposed = simulated.dp.exposed - evaluated.waterfall.exposed_dp;
    CHECK(std::abs(exposed / evaluated.step) <= 1e-9);
    CHECK(simulated.dp.bytes == evaluated.dp_bytes);
    CHECK(std::abs(evaluated.waterfall.total() / evaluated.step - 1) <= 1e-12);
  }
}

// Gathers and scatters of equal length g, hidden behind units of forward f > g and backward 2 f >
// 2 g: what nothing can hide is the first gather of each pass and the last scatter. The first
// backward gather also waits for nothing but the pass before it.
TEST_CASE("with short messages only the ends of the passes are exposed") {
  const Seconds f = 10_ms;
  const Seconds g = 2_ms;
  const StepPlan plan = uniform(8, 1, f, g, g);
  const Seconds compute = 8 * f + 8 * 2.0 * f;
  CHECK(std::abs(evaluate(plan).step / (compute + g + g + g) - 1) < 1e-12);
}

// Where messages are longer than compute, the network is never idle: 8 gathers, 8 gathers, 8
// scatters, and only the first unit of backward computes with nothing in flight that it needs.
TEST_CASE("with long messages the step is what the network takes, and the compute at its ends") {
  const Seconds f = 1_ms;
  const Seconds g = 20_ms;
  const StepPlan plan = uniform(8, 1, f, g, g);
  // Forward ends one unit after its last gather; backward's gathers and scatters follow.
  const Seconds network = 24.0 * g;
  const Seconds step = evaluate(plan).step;
  CHECK(step >= network + f);
  CHECK(step <= network + 3.0 * f + 2.0 * f);
}

TEST_CASE("without overlap every gather and every scatter is exposed") {
  StepPlan plan = uniform(4, 3, 5_ms, 2_ms, 3_ms);
  plan.overlap = false;
  const StepPrediction step = evaluate(plan);
  CHECK(std::abs(step.waterfall.exposed_dp / (3 * (8 * 2_ms + 4 * 3_ms)) - 1) < 1e-12);
}

TEST_CASE("every micro-batch gathers and scatters again") {
  const Bytes once = evaluate(uniform(4, 1, 5_ms, 2_ms, 3_ms)).dp_bytes;
  CHECK(evaluate(uniform(4, 5, 5_ms, 2_ms, 3_ms)).dp_bytes == 5.0 * once);
}
