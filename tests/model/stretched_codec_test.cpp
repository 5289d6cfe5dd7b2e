// SPDX-License-Identifier: Apache-2.0
#include "model/stretched_codec.hpp"

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

TEST_CASE("a slower codec does not slow the copy of a bucket nor its update") {
  Work work{WorkKind::encode, 10_ms};
  work.bucket_copy = 3_ms;
  work.update = 2_ms;
  stretch_codec(work, 4.0);
  CHECK_THAT(work.codec() / 1_ms, WithinRel(4.0 * (10 - 3 - 2), 1e-12));
  CHECK_THAT(work.alone / 1_ms, WithinRel(4.0 * (10 - 3 - 2) + 3 + 2, 1e-12));
  CHECK(work.bucket_copy == 3_ms);
  CHECK(work.update == 2_ms);
}

TEST_CASE("a plan with a slower codec computes and sends what it did") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(8.0, 6.0)});
  job.software.bucket_copy_passes = 2;
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[1]);
  const StepPrediction before = evaluate(plan);
  const StepPrediction slower = evaluate(stretched_codec(plan, 3.0));
  REQUIRE(before.waterfall.bucket_copy > 0_s);
  CHECK_THAT(slower.waterfall.encode / before.waterfall.encode, WithinRel(3.0, 1e-9));
  CHECK_THAT(slower.waterfall.decode / before.waterfall.decode, WithinRel(3.0, 1e-9));
  CHECK_THAT(slower.waterfall.bucket_copy / before.waterfall.bucket_copy, WithinRel(1.0, 1e-9));
  CHECK(slower.waterfall.backward == before.waterfall.backward);
  CHECK(slower.dp_bytes == before.dp_bytes);
}
