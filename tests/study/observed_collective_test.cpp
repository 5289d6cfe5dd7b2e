// SPDX-License-Identifier: Apache-2.0
#include "study/observed_collective.hpp"

#include <cmath>
#include <string>

#include "model/collective.hpp"
#include "study/observed.hpp"
#include "study/payoff.hpp"
#include "study/spread.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"
#include "tests/study/nccl_runs.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using test::everybody;
using test::run_of;

namespace {

Seconds exposed_with(const Experiment& job, const Latents& z) {
  Ensemble ensemble({{PreparedExperiment(job).plan(job.plans[0])}}, compute_sd(job));
  return exposed_communication(evaluate(ensemble.scaled(0, {z, {}})).waterfall);
}

// Every message takes `factor` times as long.
Seconds exposed_of_slow_links(const Experiment& job, double factor) {
  StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  for (BucketKind& kind : plan.kinds) {
    for (BucketRound& round : kind.rounds) {
      round.message.alone *= factor;
    }
  }
  return exposed_communication(evaluate(plan).waterfall);
}

}  // namespace

TEST_CASE("nccl-tests that measured the model's own prices move nothing and narrow the interval") {
  const Experiment job = test::small_job();
  const Conditioning result = condition(job, {}, {run_of(job, 1.0)});
  for (const double z : result.belief.mean) {
    CHECK_THAT(z, WithinAbs(0.0, 1e-9));
  }
  CHECK_THAT(result.step_after / result.step_before, WithinRel(1.0, 1e-12));
  CHECK_FALSE(result.disagrees());
  CHECK(result.width_after < 0.8 * result.width_before);
  const Latents left = deviations(result.belief);
  CHECK(left[latent::network] < 0.8);
  CHECK_THAT(left[latent::compute], WithinAbs(1.0, 1e-12));  // of which it says nothing
  CHECK(result.observed.empty());
  // 1 to 256 KiB, and from 1 MiB: where the latent is another.
  REQUIRE(result.sizes.size() == 2);
  CHECK(result.sizes[0].count == 5);
  CHECK(result.sizes[1].first == 1_MiB);
  CHECK(result.sizes[1].last == 1_GiB);
  for (const ObservedSizes& sizes : result.sizes) {
    CHECK_THAT(sizes.before, WithinRel(1.0, 1e-12));
  }
}

TEST_CASE("links that nccl-tests found slower make exposed communication longer, and not by more") {
  const Experiment job = test::small_job();
  const Seconds before = exposed_with(job, {});
  for (const double factor : {1.1, 1.25, 0.9}) {
    INFO(factor << " times the predicted times");
    const Latents mode = condition(job, {}, {run_of(job, factor)}).belief.mean;
    const double moved = std::log(exposed_with(job, mode) / before);
    const double truth = std::log(exposed_of_slow_links(job, factor) / before);
    CHECK(moved / truth > 0.5);
    CHECK(moved / truth < 1.0);
    Message gradients;
    gradients.size = 25_MiB;
    gradients.relative_sd = 0.15;  // of the law of small_job()
    const double of_message = std::log(message_factor(gradients, mode)) / std::log(factor);
    CHECK(of_message > 0.5);
    CHECK(of_message < 1.0);
  }
}

// The deviation of a message is standard normal; a size that is off by d says d = sd z plus noise,
// so that z is d / sd / (1 + noise^2 / sd^2) and keeps 1 / sqrt(1 + sd^2 / noise^2).
TEST_CASE("one size alone has the posterior of the textbook") {
  const Experiment job = test::small_job();
  ObservedCollective run = run_of(job, 1.2);
  run.points = {run.points[8]};
  REQUIRE(run.points[0].size == 64_MiB);
  const Conditioning result = condition(job, {}, {run});
  constexpr double sd = 0.15;
  const double noise = std::hypot(0.02, 0.1);  // of the run, and of the law's shape
  Message message;
  message.size = 64_MiB;
  CHECK_THAT(message_deviation(message, result.belief.mean),
             WithinRel(std::log(1.2) / sd / (1 + noise * noise / (sd * sd)), 1e-4));
  REQUIRE(result.sizes.size() == 1);
  CHECK_THAT(result.sizes[0].noise, WithinRel(noise, 1e-12));
  // Half of the message's variance is that of all links.
  const double kept = 1 / (1 + sd * sd / (noise * noise));
  CHECK_THAT(deviations(result.belief)[latent::network],
             WithinRel(std::sqrt(1 - 0.5 * (1 - kept)), 1e-4));
}

TEST_CASE("a hundred sizes of one run are no hundred observations") {
  const Experiment job = test::small_job();
  const auto left_after = [&](std::size_t count) {
    ObservedCollective run = run_of(job, 1.0);
    const CollectiveModel model(job.cluster, everybody);
    run.points.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes size = 16_MiB + static_cast<double>(i) * 1_MiB;
      // Alternately above and below the law: the mean says nothing is off.
      const double scatter = i % 2 == 0 ? 1.1 : 1 / 1.1;
      run.points.push_back({size, scatter * model.price(run.collective, size).time});
    }
    return deviations(condition(job, {}, {run}).belief)[latent::network];
  };
  CHECK_THAT(left_after(100), WithinRel(left_after(10), 0.01));
}

TEST_CASE("runs condition together, in any order, and two of them tell more than one") {
  const Experiment job = test::small_job();
  const ObservedCollective first = run_of(job, 1.2);
  const ObservedCollective second = run_of(job, 1.1, Collective::all_gather);
  const Conditioning both = condition(job, {}, {first, second});
  const Conditioning swapped = condition(job, {}, {second, first});
  const Conditioning one = condition(job, {}, {first});
  const Latents left = deviations(both.belief);
  const Latents left_swapped = deviations(swapped.belief);
  const Latents left_one = deviations(one.belief);
  for (std::size_t i = 0; i < latent_count; ++i) {
    CHECK_THAT(both.belief.mean.at(i), WithinAbs(swapped.belief.mean.at(i), 1e-6));
    CHECK_THAT(left.at(i), WithinAbs(left_swapped.at(i), 1e-6));
    CHECK(left.at(i) <= left_one.at(i) + 1e-9);
  }
  CHECK(left[latent::network] < left_one[latent::network] - 0.01);
  // Of the step, whose messages are reductions, the same again tells more.
  CHECK(condition(job, {}, {first, first}).width_after < one.width_after);
  CHECK(both.sizes.size() == 2 * one.sizes.size());
}

TEST_CASE("a step and a run of nccl-tests tell compute from messages") {
  const Experiment job = test::small_job();
  Observation step;
  step.step = 1.15 * PreparedExperiment(job).predict(job.plans[0]).step;
  const Conditioning alone = condition(job, step);
  const Conditioning both = condition(job, {step}, {run_of(job, 1.0)});
  REQUIRE(both.observed.size() == 1);
  // The links are as predicted: the rest must be the GPU.
  CHECK(both.belief.mean[latent::compute] > alone.belief.mean[latent::compute]);
  CHECK(deviations(both.belief)[latent::compute] < deviations(alone.belief)[latent::compute]);
}

TEST_CASE("a run inside a node tells of the fabric of a job that stays there") {
  const Experiment job = test::small_job({.nodes = 1});
  const ObservedCollective run = run_of(job, 1.2, Collective::all_reduce, {4, 4, 1});
  CHECK(check_observation(job, run).empty());
  CHECK(condition(job, {}, {run}).belief.mean[latent::network] > 0.3);
}

TEST_CASE("a run that no latent explains widens the belief, and its sizes are named") {
  const Experiment job = test::small_job();
  const Conditioning result = condition(job, {}, {run_of(job, 20.0)});
  CHECK(result.disagrees());
  CHECK_THAT(result.widening, WithinRel(result.sigmas / 3, 1e-12));
  CHECK_FALSE(result.disagreement);
  REQUIRE(result.disagreeing_sizes);
  CHECK_THAT(result.sizes.at(*result.disagreeing_sizes).before, WithinRel(20.0, 1e-9));
}

TEST_CASE("a prediction is conditioned by runs as by steps") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 10)});
  AssessOptions options;
  const Comparison before = assess(job, options).plans[1].against_uncompressed;
  options.collectives = {run_of(job, 1.2)};
  const Comparison after = assess(job, options).plans[1].against_uncompressed;
  CHECK(after.speedup > before.speedup);  // slower links make compression worth more
  CHECK(std::log(after.speedup_high / after.speedup_low) <
        std::log(before.speedup_high / before.speedup_low));
}
