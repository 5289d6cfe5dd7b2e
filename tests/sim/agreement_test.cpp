// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/sim/compare_engines.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

// The engines agree on plans and jobs of all sorts; compare_engines says how closely.

using namespace payoff;
using payoff::test::compare;
using payoff::test::Comparison;
using payoff::test::Traits;

namespace {

constexpr int replicas = 1000;
constexpr int pipelines = 400;
constexpr int experiments = 1000;

struct Mix {
  int plans{};
  int one_compute_one_network{};  // with interference
  int structured{};               // pipeline, accumulation or buckets
  int pipelines{};
  int interleaved{};
  int rounds{};
  int codec{};
  int waves{};
  int tensor_parallel{};
  int tied{};
  int pipelines_with_terms{};
  double worst_ticks_ratio{};  // of what is allowed, where nothing is slowed
  double worst_difference{};   // with interference

  void add(const Traits& traits, const Comparison& comparison) {
    ++plans;
    one_compute_one_network += traits.interference ? 1 : 0;
    structured += traits.pipeline || traits.accumulation || traits.buckets ? 1 : 0;
    pipelines += traits.pipeline ? 1 : 0;
    interleaved += traits.interleaved ? 1 : 0;
    rounds += traits.rounds ? 1 : 0;
    codec += traits.codec ? 1 : 0;
    waves += traits.waves ? 1 : 0;
    tensor_parallel += traits.tensor_parallel ? 1 : 0;
    tied += traits.tied ? 1 : 0;
    pipelines_with_terms += traits.pipeline && comparison.has_terms ? 1 : 0;
    if (traits.interference) {
      worst_difference = std::max(worst_difference, comparison.difference);
    } else if (comparison.allowed_ticks > 0) {
      worst_ticks_ratio = std::max(worst_ticks_ratio, comparison.ticks / comparison.allowed_ticks);
    }
  }

  void print(const char* title) const {
    std::printf(
        "%s: %d plans, %d with interference, %d with pipeline, accumulation or buckets (%d "
        "pipelines, of %d the waterfall too, %d interleaved, %d with tied ends, %d with rounds, %d "
        "with a codec, %d with waves, %d with tp)\n"
        "  worst: %.2f of the ticks allowed without interference, %.1e with\n",
        title, plans, one_compute_one_network, structured, pipelines, pipelines_with_terms,
        interleaved, tied, rounds, codec, waves, tensor_parallel, worst_ticks_ratio,
        worst_difference);
  }
};

}  // namespace

TEST_CASE("the engines agree on a thousand random plans, to the tick where nothing interferes") {
  Mix mix;
  const auto add = [&](const test::RandomPlan& random, const char* what, int seed) {
    const Comparison comparison = compare(random.plan, random.plan);
    mix.add(random.traits, comparison);
    INFO(what << " of seed " << seed << ": " << comparison.difference << " relative, "
              << comparison.ticks << " of " << comparison.allowed_ticks << " ticks");
    CHECK(comparison.agrees(random.traits));
  };
  for (int seed = 1; seed <= replicas; ++seed) {
    add(test::random_replicas(static_cast<std::uint64_t>(seed)), "replicas", seed);
  }
  for (int seed = 1; seed <= pipelines; ++seed) {
    add(test::random_pipeline(static_cast<std::uint64_t>(seed)), "pipeline", seed);
  }
  mix.print("given times");
  CHECK(10 * mix.pipelines_with_terms >= 9 * mix.pipelines);
  CHECK(4 * mix.tied >= mix.pipelines);
  CHECK(mix.plans >= 1000);
  CHECK(2 * mix.one_compute_one_network >= mix.plans);
  CHECK(3 * mix.structured >= mix.plans);
}

TEST_CASE(
    "the engines agree on pipelines whose codecs have a priority, at both ends of the prior") {
  const Placement placement =
      GENERATE(Placement::low_priority_stream, Placement::high_priority_stream);
  const double quantile = GENERATE(0.05, 0.95);
  for (int seed = 1; seed <= 200; ++seed) {
    StepPlan plan = test::random_pipeline(static_cast<std::uint64_t>(seed)).plan;
    plan.placement = placement;
    plan.pair_quantile = quantile;
    const Comparison comparison = compare(plan, plan);
    INFO("pipeline of seed " << seed << ": " << comparison.difference << " relative");
    CHECK(comparison.agrees(test::traits_of(plan)));
  }
}

TEST_CASE("the engines agree on schedules in a V") {
  Mix mix;
  for (int seed = 1; seed <= pipelines; ++seed) {
    const test::RandomPlan random = test::random_v_pipeline(static_cast<std::uint64_t>(seed));
    const Comparison comparison = compare(random.plan, random.plan);
    mix.add(random.traits, comparison);
    INFO("V of seed " << seed << ": " << comparison.difference << " relative, " << comparison.ticks
                      << " of " << comparison.allowed_ticks << " ticks");
    CHECK(comparison.agrees(random.traits));
  }
  mix.print("schedules in a V");
  CHECK(10 * mix.pipelines_with_terms >= 9 * mix.pipelines);
  CHECK(mix.interleaved == pipelines);
}

TEST_CASE("the engines agree on pairs of a forward and a backward") {
  Mix mix;
  int found = 0;
  for (int seed = 1; seed <= pipelines; ++seed) {
    const test::RandomPlan random = test::random_pairs(static_cast<std::uint64_t>(seed));
    const Comparison comparison = compare(random.plan, random.plan);
    mix.add(random.traits, comparison);
    INFO("pairs of seed " << seed << ": " << comparison.difference << " relative, "
                          << comparison.ticks << " of " << comparison.allowed_ticks << " ticks");
    CHECK(comparison.agrees(random.traits));
    StepPlan apart = random.plan;
    apart.layout.pair_overlap = false;
    found += compare(random.plan, apart).agrees(random.traits) ? 0 : 1;
  }
  mix.print("pairs");
  CHECK(10 * mix.pipelines_with_terms >= 9 * mix.pipelines);
  CHECK(mix.interleaved == pipelines);
  CHECK(2 * found >= pipelines);  // of those with pairs and messages
}

TEST_CASE("the engines agree on jobs whose stages hold the ends of a model") {
  const auto schedule =
      GENERATE(PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v, PipelineSchedule::dualpipe);
  const bool pairs = GENERATE(false, true);
  Experiment job = test::small_job();
  job.model = test::gpt(8, 512, 8, 256, 32000);
  job.layout.pp = 4;
  job.layout.dp = 4;
  job.layout.schedule = schedule;
  job.layout.virtual_stages = 2;
  job.layout.micro_batches = 18;
  job.layout.pair_overlap = pairs && has_pairs(schedule);
  job.training.precision = Precision::fp16;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  // Embedding and head are on the first stage.
  CHECK(plan.stages[0].compute->parameters > plan.stages.back().compute->parameters);
  const double simulated = sim::simulate(plan, {}).prediction.step / 1_s;
  CHECK(std::abs(prepared.predict(plan).step / 1_s / simulated - 1) < 1e-3);
  CHECK(prepared.predict(plan).pp_bytes == sim::simulate(plan, {}).prediction.pp_bytes);
}

TEST_CASE("the engines agree on random jobs through the whole model") {
  Mix mix;
  for (int seed = 1; seed <= experiments; ++seed) {
    const Experiment job = test::random_experiment(static_cast<std::uint64_t>(seed));
    const Problems problems = check(job);
    INFO("job of seed " << seed << (problems.empty() ? "" : problems.front().message));
    REQUIRE(problems.empty());
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      const StepPlan plan = prepared.plan(compression);
      const Traits traits = test::traits_of(plan);
      const Comparison comparison = compare(plan, plan);
      INFO(compression.label << ": " << comparison.difference << " relative, " << comparison.ticks
                             << " of " << comparison.allowed_ticks << " ticks");
      mix.add(traits, comparison);
      CHECK(comparison.agrees(traits));
    }
  }
  mix.print("jobs");
  CHECK(10 * mix.pipelines_with_terms >= 9 * mix.pipelines);
  CHECK(4 * mix.tied >= mix.pipelines);
  CHECK(mix.plans >= experiments);
  CHECK(2 * mix.one_compute_one_network >= mix.plans);
  CHECK(3 * mix.structured >= mix.plans);
  for (const int some : {mix.pipelines, mix.interleaved, mix.rounds, mix.codec, mix.waves}) {
    CHECK(20 * some >= mix.plans);
  }
}
