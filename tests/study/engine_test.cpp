// SPDX-License-Identifier: Apache-2.0
#include "study/engine.hpp"

#include <algorithm>

#include "model/reference_agarwal2022.hpp"
#include "tests/catch.hpp"
#include "tests/model/recommender_jobs.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

StepPrediction answer(Engine engine, const Experiment& experiment, std::size_t plan = 0) {
  const PreparedExperiment prepared(experiment);
  const EngineAnswer result = predict(engine, prepared, experiment.plans[plan]);
  INFO(result.reason);
  REQUIRE(result.prediction);
  return *result.prediction;
}

// A network that costs nothing.
Experiment free_network() {
  Experiment job = test::small_job({.nic = 1e9_Gbps});
  job.cluster.fabric.per_gpu = job.cluster.fabric.pair = 1e9_GBps;
  for (LinkLaw* law : {&job.cluster.fabric.law, &job.cluster.network.law}) {
    law->launch = law->step_ll = law->step_ll128 = law->step_simple = 0_s;
  }
  return job;
}

}  // namespace

TEST_CASE("a reconstruction says so in its name, and is found without it") {
  CHECK(name(Engine::agarwal2022) == "agarwal2022-reconstructed");
  CHECK(name(Engine::mgwfbp) == "mgwfbp");
  for (const Engine engine : all_engines) {
    CHECK(find_engine(name(engine)) == engine);
  }
  CHECK(find_engine("agarwal2022") == Engine::agarwal2022);
  CHECK_FALSE(find_engine("agarwal"));
}

TEST_CASE("every engine's terms add up to its step") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  for (const Engine engine : all_engines) {
    if (engine == Engine::bian2024) {
      continue;  // of tensor parallelism: tests/catalogue/reference_bian2024_test.cpp
    }
    const StepPrediction prediction = answer(engine, job);
    CHECK_THAT(prediction.waterfall.total() / prediction.step, WithinRel(1.0, 1e-9));
  }
  const StepPrediction compressed = answer(Engine::agarwal2022, job, 1);
  CHECK_THAT(compressed.waterfall.total() / compressed.step, WithinRel(1.0, 1e-12));
}

TEST_CASE("on one GPU all engines say the same") {
  Experiment job = test::small_job({.nodes = 1});
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  const Seconds own = answer(Engine::analytical, job).step;
  CHECK_THAT(answer(Engine::agarwal2022, job).step / own, WithinRel(1.0, 1e-12));
  CHECK_THAT(answer(Engine::bian2024, job).step / own, WithinRel(1.0, 1e-12));
  CHECK_THAT(answer(Engine::mgwfbp, job).step / own, WithinRel(1.0, 1e-12));
}

TEST_CASE("where the network is free, MG-WFBP says what we say") {
  const Experiment job = free_network();
  CHECK_THAT(answer(Engine::mgwfbp, job).step / answer(Engine::analytical, job).step,
             WithinRel(1.0, 0.02));  // ours takes compute units for the channels
}

TEST_CASE("where the network rules, merging approaches one message of everything") {
  // At 1 Gb/s the reduction takes far longer than backward: the step tends to the time of the first
  // gradient and one reduction of all.
  const Experiment job = test::small_job({.nic = 1_Gbps});
  const StepPrediction merged = answer(Engine::mgwfbp, job);
  CHECK(merged.waterfall.exposed_dp > 10 * merged.waterfall.backward);
  CHECK_THAT(merged.step / answer(Engine::analytical, job).step, WithinRel(1.0, 0.25));
}

TEST_CASE("the agarwal2022 step is forward, the paper's formula, optimizer and host") {
  // 12 layers of 2048 x 2048 + 2048 floats in DDP's buckets: the first of 1 MiB, then 25 MiB,
  // filled by whole tensors of 16.8 MB.
  const Experiment job = test::small_job();
  const StepPrediction prediction = answer(Engine::agarwal2022, job);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const auto& buckets = plan.stages[0].buckets;
  const RingNetwork ring{16, job.cluster.network.law.step_simple, 10_Gbps};
  Seconds all_but_last;
  Bytes size;
  for (std::size_t b = 0; b + 1 < buckets.size(); ++b) {
    size += plan.kind(buckets[b]).rounds[0].message.size;
    all_but_last += 2 * 15 * ring.latency;
  }
  all_but_last += 2.0 * 15 / 16 * size / ring.bandwidth;
  const Seconds last = ring.all_reduce(plan.kind(buckets.back()).rounds[0].message.size);
  const Waterfall own = prepared.predict(job.plans[0]).waterfall;
  const Seconds expected =
      own.forward + std::max(1.07 * own.backward, all_but_last) + last + own.optimizer + own.host;
  CHECK_THAT(prediction.step / expected, WithinRel(1.0, 1e-9));
}

TEST_CASE("compressed, agarwal2022 hides nothing") {
  const Experiment job =
      test::with_plans(test::small_job({.nic = 200_Gbps}), {test::shrink(100, 3)});
  const StepPrediction theirs = answer(Engine::agarwal2022, job, 1);
  const StepPrediction ours = answer(Engine::analytical, job, 1);
  CHECK(theirs.hidden_dp == 0_s);
  CHECK_THAT((theirs.waterfall.encode + theirs.waterfall.decode) /
                 (ours.waterfall.encode + ours.waterfall.decode),
             WithinRel(1.0, 1e-9));
}

TEST_CASE("what a paper does not model is refused with the reason") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  const PreparedExperiment prepared(job);
  const EngineAnswer compressed = predict(Engine::mgwfbp, prepared, job.plans[1]);
  CHECK_FALSE(compressed.prediction);
  CHECK_THAT(compressed.reason, ContainsSubstring("compression"));
  Experiment sharded = test::small_job();
  sharded.layout.zero = 1;
  const PreparedExperiment prepared_sharded(sharded);
  for (const Engine engine : {Engine::agarwal2022, Engine::mgwfbp}) {
    const EngineAnswer answer = predict(engine, prepared_sharded, sharded.plans[0]);
    CHECK_FALSE(answer.prediction);
    CHECK_THAT(answer.reason, ContainsSubstring("zero"));
  }
}

TEST_CASE("papers of data parallelism know no tables that ranks divide, and are asked on one") {
  const Experiment many = test::recommenders::job_of(test::recommenders::shape_of(32, 64));
  Experiment one = many;
  one.cluster.nodes = one.cluster.gpus_per_node = 1;
  one.layout.dp = 1;
  for (const Experiment& job : {many, one}) {
    const int ranks = job.layout.ranks();
    const PreparedExperiment prepared(job);
    for (const Engine engine : {Engine::agarwal2022, Engine::mgwfbp}) {
      const EngineAnswer answer = predict(engine, prepared, job.plans.front());
      CHECK(answer.prediction.has_value() == (ranks == 1));
      CHECK((ranks == 1 || answer.reason.find("tables") != std::string::npos));
    }
  }
}
