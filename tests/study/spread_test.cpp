// SPDX-License-Identifier: Apache-2.0
#include "study/spread.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

Draw with(std::size_t latent, double value) {
  Draw draw;
  draw.shared[latent] = value;
  return draw;
}

// Everything that is not a message, and the messages, of a plan without overlap add up.
StepPlan serial_plan(const CompressionPlan& plan) {
  Experiment experiment = test::small_job();
  experiment.training.overlap = false;
  return PreparedExperiment(experiment).plan(plan);
}

}  // namespace

TEST_CASE("with every latent at zero a plan is what it was, to the last bit") {
  const PreparedExperiment prepared(test::small_job());
  for (const CompressionPlan& plan : {prepared.experiment().plans[0], test::shrink(4, 3)}) {
    Ensemble ensemble({{prepared.plan(plan), {{0.3, 1}}}}, 0.1);
    CHECK(ensemble.step(0, {}) == evaluate(prepared.plan(plan)).step);
    // ... also after it was scaled to something else.
    static_cast<void>(ensemble.step(0, with(latent::compute, 1.5)));
    CHECK(ensemble.step(0, {}) == evaluate(prepared.plan(plan)).step);
  }
}

TEST_CASE("one standard deviation of compute multiplies all compute and the host, no message") {
  const StepPlan plan = serial_plan(test::small_job().plans[0]);
  const Waterfall before = evaluate(plan).waterfall;
  Ensemble ensemble({{plan}}, 0.1);
  const Waterfall after = evaluate(ensemble.scaled(0, with(latent::compute, 1.0))).waterfall;
  const double factor = std::exp(0.1);
  CHECK_THAT(after.forward / before.forward, WithinRel(factor, 1e-12));
  CHECK_THAT(after.backward / before.backward, WithinRel(factor, 1e-12));
  CHECK_THAT(after.optimizer / before.optimizer, WithinRel(factor, 1e-12));
  CHECK_THAT(after.host / before.host, WithinRel(factor, 1e-12));
  CHECK_THAT(after.exposed_dp / before.exposed_dp, WithinRel(1.0, 1e-12));
}

TEST_CASE("a message moves with its own uncertainty, half of the variance shared by all") {
  const StepPlan plan = serial_plan(test::small_job().plans[0]);
  Ensemble ensemble({{plan}}, 0.1);
  const auto& scaled = ensemble.scaled(0, with(latent::network, 2.0));
  for (std::size_t k = 0; k < plan.kinds.size(); ++k) {
    const Message& from = plan.kinds[k].rounds[0].message;
    const Message& to = scaled.kinds[k].rounds[0].message;
    CHECK(from.relative_sd > 0);
    CHECK_THAT(to.alone / from.alone,
               WithinRel(std::exp(2.0 * std::sqrt(0.5) * from.relative_sd), 1e-12));
  }
}

TEST_CASE("no draw sends a message in less time than its bytes take at line rate") {
  StepPlan plan = serial_plan(test::small_job().plans[0]);
  for (BucketKind& kind : plan.kinds) {
    kind.rounds[0].message.relative_sd = 0.5;
    kind.rounds[0].message.least_share = 0.8;
  }
  Ensemble ensemble({{plan}}, 0.1);
  const auto share_at = [&](double z) {
    return ensemble.scaled(0, with(latent::network, z)).kinds[0].rounds[0].message.alone /
           plan.kinds[0].rounds[0].message.alone;
  };
  CHECK_THAT(share_at(-5), WithinRel(0.8, 1e-12));
  CHECK_THAT(share_at(-0.1), WithinRel(std::exp(-0.1 * std::sqrt(0.5) * 0.5), 1e-12));
  CHECK_THAT(share_at(5), WithinRel(std::exp(5 * std::sqrt(0.5) * 0.5), 1e-12));
}

TEST_CASE("the codec's latent moves encode and decode only") {
  const StepPlan plan = serial_plan(test::shrink(4, 3));
  const Waterfall before = evaluate(plan).waterfall;
  Ensemble ensemble({{plan, {{0.2, 0}}}}, 0.1);
  Draw draw;
  draw.codecs = {-1.0};
  const Waterfall after = evaluate(ensemble.scaled(0, draw)).waterfall;
  CHECK_THAT(after.encode / before.encode, WithinRel(std::exp(-0.2), 1e-12));
  CHECK_THAT(after.decode / before.decode, WithinRel(std::exp(-0.2), 1e-12));
  CHECK(after.forward == before.forward);
  CHECK(after.backward == before.backward);
  CHECK(after.optimizer == before.optimizer);
}

TEST_CASE("a step of several batches counts for one") {
  const StepPlan plan = serial_plan(test::small_job().plans[0]);
  Ensemble ensemble({{plan}, {.plan = plan, .batches = 4}}, 0.1);
  CHECK_THAT(ensemble.step(0, {}) / ensemble.step(1, {}), WithinRel(4.0, 1e-12));
}

TEST_CASE("the same draws move plans together: equal plans have equal times in every draw") {
  const StepPlan plan = PreparedExperiment(test::small_job()).plan(test::shrink(4, 3));
  Ensemble ensemble({{plan, {{0.2, 1}}}, {plan, {{0.2, 1}}}, {plan, {{0.2, 2}}}}, 0.1);
  const auto steps = sample_steps(ensemble, make_draws(32, 1, ensemble.codecs()));
  CHECK(steps[0] == steps[1]);
  CHECK(steps[0] != steps[2]);  // another method's codec is another error
}

TEST_CASE("what nobody measured of codecs beside other work shows in the interval") {
  // Parameters that are all known leave the pair: a codec beside backward and messages takes 1 to
  // 2 times as long. Without a codec every draw is the prediction.
  CompressionPlan shrink = test::shrink(4, 3);
  shrink.placement = Placement::side_stream;
  Experiment experiment = test::small_job();
  experiment.software.bucket_copy_passes = 0;
  const PreparedExperiment prepared(experiment);
  Ensemble ensemble({{prepared.plan(shrink)}, {prepared.plan(experiment.plans[0])}}, 0.0);
  const auto at = [&](std::size_t plan, double pairs) {
    Draw draw;
    draw.pairs = pairs;
    return ensemble.step(plan, draw);
  };
  CHECK(at(0, -8) < at(0, 0));
  CHECK(at(0, -0.5) < at(0, 0));
  CHECK(at(0, 8) >= at(0, 0));
  CHECK(at(1, -8) == at(1, 0));
  CHECK(at(1, 8) == at(1, 0));
}
