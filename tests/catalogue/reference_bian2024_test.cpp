// SPDX-License-Identifier: Apache-2.0
#include "model/reference_bian2024.hpp"

#include "model/experiment.hpp"
#include "study/engine.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catalogue/transformer_job.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

StepPrediction answer(Engine engine, const Experiment& job, const CompressionPlan& plan) {
  const PreparedExperiment prepared(job);
  const EngineAnswer result = predict(engine, prepared, plan);
  INFO(result.reason);
  REQUIRE(result.prediction);
  return *result.prediction;
}

// Every sum of the forward pass encoded to `dim` columns.
Experiment encoded_job(double dim) {
  Experiment job = test::bert_large_job(4, 1, 1);
  job.plans.resize(1);
  job.plans.push_back(test::compressed(test::method("autoencoder", {{"dim", dim}}),
                                       Traffic::tp_activations, true, true, {}));
  return job;
}

}  // namespace

TEST_CASE("a layer computes what Megatron-LM counts for it, recomputation included") {
  // Narayanan et al., SC 2021, section 5.1: 96 B s l h^2 (1 + s / 6h) of l layers.
  const double b = 16;
  const double s = 128;
  const double h = 1024;
  CHECK_THAT(bian2024_flops(b, s, h) / 1_flop, WithinRel(96 * b * s * h * h * (1 + s / (6 * h))));
}

TEST_CASE("a wider layer gains less from the same encoding, and in the end nothing") {
  // Computation grows with h^2, messages and overhead with h.
  const ActivationSum sum{100_us, 20_us / 1_MB};
  double before = 2;
  for (const double hidden : {1024.0, 4096.0, 16384.0, 262144.0}) {
    const Bytes dense = 32 * 128 * hidden * 2_B;
    const EncodedLayer layer{bian2024_flops(32, 128, hidden) / 400_TFLOPps, dense,
                             32 * 128 * 100 * 2_B, dense * (1_us / 1_MB)};
    const double speedup = bian2024_speedup(layer, sum);
    CHECK(speedup < before);
    CHECK(speedup > 1);
    before = speedup;
  }
  CHECK_THAT(before, WithinRel(1.0, 0.02));
}

TEST_CASE("a short message takes what the shortest takes, and an empty one nothing") {
  const ActivationSum sum{100_us, 20_us / 1_MB};
  CHECK(sum.time(0_B) == 0_s);
  CHECK_THAT(sum.time(1_KB) / 1_us, WithinRel(100.0, 1e-12));
  CHECK_THAT(sum.time(5_MB) / 1_us, WithinRel(100.0, 1e-12));
  CHECK_THAT(sum.time(10_MB) / 1_us, WithinRel(200.0, 1e-12));
}

TEST_CASE("uncompressed, bian2024 says what we say, and of an encoding what a line says") {
  const Experiment job = encoded_job(100);
  const StepPrediction own = answer(Engine::analytical, job, job.plans[0]);
  const StepPrediction theirs = answer(Engine::bian2024, job, job.plans[0]);
  CHECK_THAT(theirs.waterfall.exposed_tp / own.waterfall.exposed_tp, WithinRel(1.0, 1e-9));
  CHECK_THAT(theirs.waterfall.total() / theirs.step, WithinRel(1.0, 1e-12));
  const StepPrediction encoded = answer(Engine::bian2024, job, job.plans[1]);
  CHECK(encoded.waterfall.exposed_tp < theirs.waterfall.exposed_tp);
  CHECK(encoded.waterfall.encode + encoded.waterfall.decode > 0_s);
}

TEST_CASE("bian2024 names what it does not model") {
  const auto reason = [](const Experiment& job, const CompressionPlan& plan) {
    const PreparedExperiment prepared(job);
    const EngineAnswer result = predict(Engine::bian2024, prepared, plan);
    CHECK_FALSE(result.prediction);
    return result.reason;
  };
  const Experiment staged = test::bert_large_job(2, 2);
  CHECK_THAT(reason(staged, staged.plans[0]), ContainsSubstring("tensor parallelism alone"));
  const Experiment job = test::bert_large_job(4, 1, 1);
  const CompressionPlan gathered =
      test::compressed(test::method("activation_topk"), Traffic::tp_activations, true, false, {});
  CHECK_THAT(reason(job, gathered), ContainsSubstring("not gathered"));
}
