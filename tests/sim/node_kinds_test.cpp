// SPDX-License-Identifier: Apache-2.0
#include "model/node_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/rank_order.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/node_kinds.hpp"
#include "tests/sim/random_plans.hpp"

using namespace payoff;
using payoff::test::make_faster;
using payoff::test::settle;
using payoff::test::simulated;
using payoff::test::split;
using payoff::test::step_of;

// Random jobs on nodes of several kinds, in both engines.

namespace {

// Random jobs of several nodes, the nodes in two or three runs.
struct RandomKinds {
  Experiment job;
  std::vector<int> nodes;
};
std::vector<RandomKinds> random_jobs(int seeds) {
  std::vector<RandomKinds> jobs;
  for (int seed = 1; seed <= seeds; ++seed) {
    Experiment job = test::random_experiment(static_cast<std::uint64_t>(seed));
    test::Random random(static_cast<std::uint64_t>(seed) + 7000);
    if (job.cluster.nodes < 2) {
      continue;
    }
    const int first = random.integer(1, job.cluster.nodes - 1);
    std::vector<int> nodes{first, job.cluster.nodes - first};
    if (nodes[1] > 1 && random.chance(40)) {
      nodes = {first, 1, nodes[1] - 1};
    }
    jobs.push_back({std::move(job), std::move(nodes)});
  }
  return jobs;
}

void vary(test::Random& random, Cluster& kind) {
  Gpu& gpu = kind.gpu;
  gpu.compute_units = random.integer(60, 150);
  make_faster(gpu, random.between(0.5, 4));
  gpu.memory_bandwidth *= random.between(0.5, 2);
  kind.nic *= random.between(0.3, 3);
  kind.fabric.per_gpu *= random.between(0.5, 2);
  kind.fabric.pair = kind.fabric.per_gpu;
}

}  // namespace

TEST_CASE("kinds of nodes that are equal are nodes that are alike, in both engines") {
  int several = 0;
  for (const RandomKinds& random : random_jobs(300)) {
    Experiment mixed = random.job;
    mixed.cluster = split(mixed.cluster, random.nodes);
    REQUIRE(check(mixed).empty());
    const PreparedExperiment alike(random.job);
    const PreparedExperiment kinds(mixed);
    for (const CompressionPlan& compression : random.job.plans) {
      const StepPlan plan = alike.plan(compression);
      const StepPlan of_kinds = kinds.plan(compression);
      several += of_kinds.stages.size() > 1 ? 1 : 0;
      const StepPrediction one = alike.predict(plan);
      const StepPrediction other = kinds.predict(of_kinds);
      CHECK(std::abs((one.step - other.step).si) < 1e-12);
      CHECK(one.memory.total() == other.memory.total());
      CHECK(one.dp_bytes == other.dp_bytes);
      CHECK(simulated(plan, random.job).prediction.step ==
            simulated(of_kinds, mixed).prediction.step);
    }
  }
  CHECK(several > 50);
}

// Orders as they come, of jobs whose own order is possible.
TEST_CASE("in an order of their own nodes of equal kinds are nodes that are alike") {
  int compared = 0;
  for (const RandomKinds& random : random_jobs(300)) {
    Experiment job = random.job;
    job.plans.resize(1);
    for (std::size_t turns = 1 + random.nodes.size() * 7 % 23; turns > 0; --turns) {
      std::next_permutation(job.layout.order.begin(), job.layout.order.end());
    }
    if (has_usual_order(job.layout) || !check(job).empty()) {
      continue;
    }
    Experiment mixed = job;
    mixed.cluster = split(mixed.cluster, random.nodes);
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    const StepPlan of_kinds = PreparedExperiment(mixed).plan(mixed.plans[0]);
    CHECK(std::abs((evaluate(plan).step - evaluate(of_kinds).step).si) < 1e-12);
    CHECK(simulated(plan, job).prediction.step == simulated(of_kinds, mixed).prediction.step);
    ++compared;
  }
  CHECK(compared > 30);
}

// With overlap a message that comes earlier may slow more compute: that is no anomaly of kinds.
TEST_CASE("a faster kind never lengthens a step, algorithms pinned and nothing overlapped") {
  constexpr NcclPin pin{Algorithm::ring, Protocol::simple};
  int faster = 0;
  for (const RandomKinds& random : random_jobs(200)) {
    Experiment job = random.job;
    job.training.overlap = false;
    job.cluster = split(job.cluster, random.nodes);
    test::Random numbers(random.nodes.size() + 11);
    for (Cluster& kind : job.cluster.kinds) {
      make_faster(kind.gpu, numbers.between(0.5, 2));
    }
    settle(job.cluster);
    const Seconds before = step_of(job, 0, pin);
    for (std::size_t kind = 0; kind < job.cluster.kinds.size(); ++kind) {
      Experiment better = job;
      make_faster(better.cluster.kinds[kind].gpu, 1.5);
      settle(better.cluster);
      const Seconds after = step_of(better, 0, pin);
      CHECK(after <= before * (1 + 1e-9));
      faster += after < before ? 1 : 0;
    }
  }
  CHECK(faster > 100);
}

TEST_CASE("the engines agree on random jobs on nodes of several kinds") {
  int plans = 0;
  int pipelines = 0;
  int structured = 0;
  int interfering = 0;
  int codecs = 0;
  double worst = 0;
  for (const RandomKinds& random : random_jobs(700)) {
    Experiment job = random.job;
    job.cluster = split(job.cluster, random.nodes);
    test::Random numbers(static_cast<std::uint64_t>(plans) + 99);
    for (Cluster& kind : job.cluster.kinds) {
      vary(numbers, kind);
    }
    settle(job.cluster);
    REQUIRE(check(job).empty());
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      const StepPlan plan = prepared.plan(compression);
      const test::Traits traits = test::traits_of(plan);
      const sim::SimulatedStep step = sim::simulate(plan, {});
      const StepPrediction evaluated = prepared.predict(plan);
      const double difference = std::abs(step.prediction.step / evaluated.step - 1);
      const double ticks = std::abs((step.prediction.step - evaluated.step).si) * 1e12;
      INFO(compression.label << ": " << difference << " relative, " << ticks << " of "
                             << step.path_activities << " ticks");
      CHECK(difference <= 1e-3);
      CHECK((traits.interference || ticks <= static_cast<double>(step.path_activities)));
      ++plans;
      pipelines += traits.pipeline ? 1 : 0;
      structured += traits.pipeline || traits.accumulation || traits.buckets ? 1 : 0;
      interfering += traits.interference ? 1 : 0;
      codecs += traits.codec ? 1 : 0;
      worst = std::max(worst, difference);
    }
  }
  std::printf(
      "kinds of nodes: %d plans, %d pipelines, %d with interference, %d with a codec; "
      "worst %.1e\n",
      plans, pipelines, interfering, codecs, worst);
  CHECK(plans >= 400);
  CHECK(5 * pipelines >= plans);
  CHECK(3 * structured >= plans);
  CHECK(2 * interfering >= plans);
}
