// SPDX-License-Identifier: Apache-2.0
#include "study/observed.hpp"

#include <cmath>
#include <utility>

#include "study/payoff.hpp"
#include "study/spread.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

StepPrediction predicted(const Experiment& experiment) {
  return PreparedExperiment(experiment).predict(experiment.plans[0]);
}

// What a machine would show whose network is slower by `factor` than its profile says.
Observation slow_network(const Experiment& experiment, double factor) {
  StepPlan plan = PreparedExperiment(experiment).plan(experiment.plans[0]);
  for (BucketKind& kind : plan.kinds) {
    kind.rounds[0].message.alone *= factor;
  }
  const StepPrediction truth = evaluate(plan);
  Observation observation;
  observation.step = truth.step;
  observation.exposed = exposed_communication(truth.waterfall);
  return observation;
}

}  // namespace

TEST_CASE("measuring what was predicted moves nothing and narrows the interval") {
  const Experiment job = test::small_job();
  Observation observation;
  observation.step = predicted(job).step;
  const Conditioning result = condition(job, observation);
  for (const double z : result.belief.mean) {
    CHECK_THAT(z, WithinAbs(0.0, 1e-6));
  }
  CHECK(result.sigmas < 1e-3);
  CHECK_FALSE(result.disagrees());
  CHECK(result.width_after < 0.2 * result.width_before);
  // The 5-95 % interval of 2 % noise is 2 x 1.645 x 2 % wide; the prior adds nothing to speak of.
  CHECK_THAT(result.width_after, WithinRel(2 * 1.645 * 0.02, 0.05));
}

TEST_CASE("a slower network is found in the step and its exposed part, not in compute") {
  const Experiment job = test::small_job();
  const Observation observation = slow_network(job, 1.15);
  const Conditioning result = condition(job, observation);
  CHECK(result.belief.mean[latent::network] > 0.3);
  CHECK_THAT(result.belief.mean[latent::compute], WithinAbs(0.0, 0.1));
  CHECK_THAT(result.step_after / observation.step, WithinRel(1.0, 0.02));
  CHECK_THAT(*result.exposed_after / *observation.exposed, WithinRel(1.0, 0.02));
  CHECK_FALSE(result.disagrees());
}

TEST_CASE("the posterior of a linear case is the one of the textbook") {
  // One GPU: the step is compute alone, log step = log prediction + sd z. With prior variance 1 and
  // noise n the mode is (d / sd) / (1 + n^2 / sd^2), its variance 1 / (1 + sd^2 / n^2).
  Experiment job = test::small_job({.nodes = 1});
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  Observation observation;
  observation.step = 1.05 * predicted(job).step;
  const double sd = compute_sd(job);
  const double noise = observation.noise;
  const Conditioning result = condition(job, observation);
  const double expected = std::log(1.05) / sd / (1 + noise * noise / (sd * sd));
  CHECK_THAT(result.belief.mean[latent::compute], WithinRel(expected, 1e-4));
  CHECK_THAT(result.belief.factor[latent::compute][latent::compute],
             WithinRel(1 / std::sqrt(1 + sd * sd / (noise * noise)), 1e-4));
  CHECK_THAT(result.belief.factor[latent::network][latent::network], WithinRel(1.0, 1e-9));
}

TEST_CASE("a measurement that the profiles hardly allow conditions all the same, and widens") {
  const Experiment job = test::small_job();
  Observation observation;
  observation.step = 4.0 * predicted(job).step;
  const Conditioning result = condition(job, observation);
  CHECK(result.disagrees());
  CHECK_THAT(result.widening, WithinRel(result.sigmas / 3, 1e-12));
  CHECK(result.step_after > 2.0 * result.step_before);
  CHECK(result.width_after > 2 * 1.645 * observation.noise);  // wider than the noise alone
  observation.step = 1.1 * predicted(job).step;
  CHECK_FALSE(condition(job, observation).disagreement);
  CHECK(condition(job, observation).widening == 1);
}

TEST_CASE("the part that is blamed is the one that would settle the measurement") {
  const Experiment job = test::small_job();
  const Waterfall waterfall = predicted(job).waterfall;
  const Seconds exposed = exposed_communication(waterfall);
  Observation observation;
  // All of the difference in communication, and said to be: nothing else is off.
  observation.exposed = 9.0 * exposed;
  observation.step = waterfall.total() + 8.0 * exposed;
  const Disagreement network = largest_disagreement(waterfall, observation);
  CHECK(network.part == Disagreement::Part::communication);
  CHECK_THAT(network.factor, WithinRel(9.0, 1e-12));
  CHECK(network.predicted == exposed);
  // All of it in the rest.
  observation.exposed = exposed;
  observation.step = 3.0 * (waterfall.total() - exposed) + exposed;
  const Disagreement compute = largest_disagreement(waterfall, observation);
  CHECK(compute.part == Disagreement::Part::compute);
  CHECK_THAT(compute.factor, WithinRel(3.0, 1e-12));
  // From the step alone: what is large changes least.
  observation.exposed.reset();
  const Disagreement either = largest_disagreement(waterfall, observation);
  CHECK_THAT((either.factor - 1) * either.predicted / (observation.step - waterfall.total()),
             WithinRel(1.0, 1e-9));
  CHECK(either.predicted > 0.3 * waterfall.total());
  // A step shorter than any part leaves nothing to blame but all of it.
  observation.step = 0.01 * waterfall.total();
  CHECK_THAT(largest_disagreement(waterfall, observation).factor, WithinRel(0.01, 1e-12));
}

TEST_CASE("a measurement on other nodes speaks for the same machine") {
  const Experiment job = test::small_job();
  Experiment two_nodes = test::small_job({.nodes = 2});
  Observation observation = slow_network(two_nodes, 1.15);
  observation.dp = 8;
  CHECK(check_observation(job, observation).empty());
  const Conditioning result = condition(job, observation);
  CHECK_THAT(result.step_before / predicted(two_nodes).step, WithinRel(1.0, 1e-12));
  CHECK(result.belief.mean[latent::network] > 0.3);
}

TEST_CASE("an impossible observation is refused with its reasons") {
  Observation observation{0_s, 5_ms, 7};
  CHECK(check_observation(test::small_job(), observation).size() == 3);
}

TEST_CASE("an observation narrows the interval of the gain as well") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 10)});
  AssessOptions options;
  const Comparison before = assess(job, options).plans[1].against_uncompressed;
  options.observed = {slow_network(job, 1.1)};
  const Comparison after = assess(job, options).plans[1].against_uncompressed;
  CHECK(after.speedup_high - after.speedup_low < before.speedup_high - before.speedup_low);
  CHECK(after.speedup > before.speedup);  // a slower network makes compression worth more
}

TEST_CASE("the remedy is the best one on the machine that was measured, and never slower") {
  // Cheap to combine, dear to start: by the profiles large buckets are the remedy.
  Experiment job = test::with_plans(test::small_job({.layers = 40}), {test::shrink(4, 10)});
  job.cluster.network.law.launch = 1_ms;
  const Seconds step = predicted(job).step;
  for (const double slower : {0.5, 0.8, 1.0, 1.3, 2.0, 4.0}) {
    for (const double exposed : {0.02, 0.3, 0.8}) {
      AssessOptions options;
      options.draws = 16;
      options.observed = {Observation{}};
      options.observed.front().step = slower * step;
      options.observed.front().exposed = exposed * options.observed.front().step;
      const Payoff payoff = assess(job, options);
      INFO(slower << " of the predicted step, " << exposed << " of it exposed");
      CHECK(payoff.remedy_gain.speedup >= 1.0);
      CHECK(payoff.plans[1].against_remedy.speedup <=
            payoff.plans[1].against_uncompressed.speedup * (1 + 1e-12));
    }
  }
}

TEST_CASE("a chi-squared value is as many deviations as its tail is improbable") {
  // Tables of Abramowitz and Stegun, 26.8: 5 % of the draws are above these; 1.96 deviations.
  for (const auto& [degrees, value] :
       {std::pair{1U, 3.84146}, {2U, 5.99146}, {3U, 7.81473}, {4U, 9.48773}, {7U, 14.0671}}) {
    INFO(degrees << " degrees");
    CHECK_THAT(chi_squared_sigmas(value, degrees), WithinRel(1.95996, 1e-4));
  }
}

TEST_CASE("steps of two sizes tell compute from messages, which one step cannot") {
  const Experiment job = test::small_job();
  Observation here;
  here.step = 1.1 * predicted(job).step;
  Observation alone = here;
  alone.dp = 1;  // nobody to talk to: compute is as predicted
  const Experiment one = measured_job(job, alone).value();
  alone.step = predicted(one).step;
  const Conditioning both = condition(job, {alone, here});
  const Conditioning only = condition(job, here);
  REQUIRE(both.observed.size() == 2);
  CHECK(both.observed[0].dp == 1);
  CHECK_THAT(both.observed[0].before / alone.step, WithinRel(1.0, 1e-12));
  CHECK(std::abs(both.belief.mean[latent::compute]) < 0.2);
  CHECK(both.belief.mean[latent::network] > only.belief.mean[latent::network]);
  // What was measured twice is known better, whatever was measured.
  const Latents left_both = deviations(both.belief);
  const Latents left_only = deviations(only.belief);
  CHECK(left_both[latent::compute] < left_only[latent::compute]);
  CHECK(left_only[latent::compute] < 1.0);
}

TEST_CASE("one measurement in a list is that measurement, and nodes are replicas") {
  const Experiment job = test::small_job();
  Observation observation;
  observation.step = 1.2 * predicted(job).step;
  const Conditioning single = condition(job, observation);
  observation.nodes = job.cluster.nodes;
  const Conditioning listed = condition(job, {observation});
  CHECK(listed.belief.mean == single.belief.mean);
  observation.nodes = 2;
  CHECK(measured_job(job, observation)->layout.dp == 2 * job.cluster.gpus_per_node);
  observation.dp = 8;
  CHECK(check_observation(job, observation).size() == 1);
}
