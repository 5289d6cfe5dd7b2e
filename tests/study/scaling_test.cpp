// SPDX-License-Identifier: Apache-2.0
#include "study/scaling.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

TEST_CASE("a curve over GPUs has the job itself and every doubling from one node") {
  const Experiment job = test::with_plans(test::small_job({.nodes = 5}), {test::shrink(4, 3)});
  const auto curves = gpu_curves(job, {}, {.most_gpus = 64});
  REQUIRE(curves.size() == 2);
  std::vector<int> xs;
  for (const auto& point : curves[1].points) {
    xs.push_back(point.x);
  }
  CHECK(xs == std::vector<int>{4, 8, 16, 20, 32, 64});
  const PreparedExperiment prepared(job);
  CHECK(curves[0].points[3].step == prepared.predict(job.plans[0]).step);
  CHECK(curves[1].points[3].step == prepared.predict(job.plans[1]).step);
  CHECK_THAT(curves[1].points[3].speedup,
             WithinRel(curves[0].points[3].step / curves[1].points[3].step, 1e-12));
}

TEST_CASE("the uncompressed curve has speedup one everywhere against itself") {
  const Experiment job = test::small_job();
  const auto curves = bandwidth_curves(job, {});
  for (const auto& point : curves.front().points) {
    CHECK(point.speedup == 1.0);
  }
}

TEST_CASE("break-evens lie on the curve where its speedup crosses one") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const auto curve = bandwidth_curves(job, break_evens(job)).at(1);
  REQUIRE(curve.break_evens.size() == 1);
  const auto after = std::find_if(curve.points.begin(), curve.points.end(), [&](const auto& point) {
    return point.x > curve.break_evens.front();
  });
  REQUIRE(after != curve.points.begin());
  REQUIRE(after != curve.points.end());
  CHECK((after - 1)->speedup > 1.0);
  CHECK(after->speedup <= 1.0);
}

TEST_CASE("one node has no bandwidth curve") {
  CHECK(bandwidth_curves(test::small_job({.nodes = 1}), {}).empty());
}
