// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "model/collective.hpp"
#include "study/observed.hpp"
#include "study/observed_collective.hpp"
#include "study/spread.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"
#include "tests/study/nccl_runs.hpp"

// Runs of nccl-tests inside a node and between nodes: each tells of its own links.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using test::everybody;
using test::run_of;

namespace {

std::string problems_of(const Experiment& job, const ObservedCollective& run) {
  std::string text;
  for (const Problem& problem : check_observation(job, run)) {
    text += problem.message + "\n";
  }
  return text;
}

// Sums of tensor parallelism inside nodes of four, gradients between these.
Experiment divided_job() {
  Experiment job = test::small_job();
  job.model = test::gpt(4, 512, 8, 256, 32000);
  job.training.precision = Precision::fp16;
  job.layout.tp = 4;
  job.layout.dp = 4;
  job.layout.micro_batch = 2;
  return job;
}

constexpr Group one_node{4, 4, 1};

Message large_reduction(bool in_node) {
  Message message;
  message.size = 25_MiB;
  message.in_node = in_node;
  return message;
}

}  // namespace

TEST_CASE("a run inside a node moves messages inside nodes, and none between them") {
  const Experiment job = divided_job();
  REQUIRE(check(job).empty());
  const ObservedCollective run = run_of(job, 1.2, Collective::all_reduce, one_node);
  CHECK(problems_of(job, run).empty());
  CHECK(measures_inside_alone(job, run));
  CHECK_FALSE(measures_inside_alone(job, run_of(job, 1.2)));
  const Conditioning result = condition(job, {}, {run});
  CHECK(result.belief.tells_inside);
  CHECK_THAT(message_deviation(large_reduction(false), result.belief.mean), WithinAbs(0.0, 1e-9));
  // As the same run would move all messages of a job on one node.
  Experiment alone = job;
  alone.cluster.nodes = 1;
  alone.layout.dp = 1;
  const Conditioning on_one = condition(alone, {}, {run});
  CHECK_FALSE(on_one.belief.tells_inside);
  CHECK_THAT(message_deviation(large_reduction(true), result.belief.mean),
             WithinRel(message_deviation(large_reduction(true), on_one.belief.mean), 1e-6));
  const Latents left = deviations(with_inside_apart(result.belief));
  const Latents left_on_one = deviations(on_one.belief);
  CHECK_THAT(left[latent::network], WithinAbs(1.0, 1e-9));
  CHECK_THAT(left[latent::first_inside], WithinRel(left_on_one[latent::network], 1e-6));
  CHECK(result.step_after > result.step_before);
}

TEST_CASE("runs inside a node and between nodes are each of their own links") {
  const Experiment job = divided_job();
  const ObservedCollective inside = run_of(job, 1.2, Collective::all_reduce, one_node);
  const ObservedCollective between = run_of(job, 0.9);
  const Latents both = condition(job, {}, {inside, between}).belief.mean;
  const Latents only_inside = condition(job, {}, {inside}).belief.mean;
  const Latents only_between = condition(job, {}, {between}).belief.mean;
  CHECK_THAT(message_deviation(large_reduction(true), both),
             WithinRel(message_deviation(large_reduction(true), only_inside), 1e-6));
  CHECK_THAT(message_deviation(large_reduction(false), both),
             WithinRel(message_deviation(large_reduction(false), only_between), 1e-6));
  // Without the file from inside a node the other one speaks for all links.
  CHECK(message_deviation(large_reduction(true), only_between) ==
        message_deviation(large_reduction(false), only_between));
}

TEST_CASE("a step tells of the links that nobody measured alone") {
  const Experiment job = divided_job();
  const StepPrediction predicted = PreparedExperiment(job).predict(job.plans.front());
  const Observation slow{.step = 1.3 * predicted.step};
  const ObservedCollective inside = run_of(job, 1.0, Collective::all_reduce, one_node);
  const Conditioning step = condition(job, {slow}, {});
  const Conditioning both = condition(job, {slow}, {inside});
  const auto off = [](const Conditioning& of, bool in_node) {
    return message_deviation(large_reduction(in_node), of.belief.mean);
  };
  CHECK(off(both, true) < 0.5 * off(step, true));  // NVLink is as fast as the law says
  CHECK(off(both, false) > off(step, false));      // so that it is the network
}

TEST_CASE("draws of links that were measured inside nodes spread as it is believed") {
  const Experiment job = divided_job();
  const Conditioning result =
      condition(job, {}, {run_of(job, 1.2, Collective::all_reduce, one_node)});
  const Latents left = deviations(with_inside_apart(result.belief));
  const std::vector<Draw> draws = make_draws(4096, 1, 1, result.belief);
  const std::vector<Draw> before = make_draws(4096, 1, 1);
  double mean = 0;
  double squares = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    // Between nodes everything is drawn as it was.
    CHECK_THAT(draws[i].shared[latent::network],
               WithinAbs(before[i].shared[latent::network], 1e-9));
    CHECK(draws[i].codecs == before[i].codecs);
    CHECK(before[i].shared[latent::first_inside] == 0);
    const double own = draws[i].shared[latent::network] + draws[i].shared[latent::first_inside];
    mean += own / 4096;
    squares += own * own / 4096;
  }
  CHECK_THAT(mean, WithinAbs(with_inside_apart(result.belief).mean[latent::first_inside], 0.02));
  CHECK_THAT(std::sqrt(squares - mean * mean), WithinRel(left[latent::first_inside], 0.05));
}

TEST_CASE("a run that says nothing of the job's links is refused with the reason") {
  const Experiment job = test::small_job();
  ObservedCollective run = run_of(job, 1.0);
  CHECK(problems_of(job, run).empty());
  run.group = {32, 8, 1};
  CHECK_THAT(problems_of(job, run),
             ContainsSubstring("8 ranks per node") && ContainsSubstring("has 4 GPUs"));
  run.group = {4, 4, 1};
  CHECK_THAT(problems_of(job, run), ContainsSubstring("inside a node"));
  run.group = {1, 1, 1};
  CHECK_THAT(problems_of(job, run), ContainsSubstring("one rank"));
  run.group = everybody;
  CHECK_THAT(problems_of(test::small_job({.nodes = 1}), run), ContainsSubstring("between nodes"));
  run.noise = 0;
  run.points.front().time = 0_s;
  CHECK(check_observation(job, run).size() == 2);
  run.points.clear();
  CHECK_THAT(problems_of(job, run), ContainsSubstring("no sizes"));
}
