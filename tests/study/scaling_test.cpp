// SPDX-License-Identifier: Apache-2.0
#include "study/scaling.hpp"

#include <algorithm>
#include <vector>

#include "study/remedy.hpp"
#include "study/scaled_job.hpp"
#include "study/scaled_model.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

std::vector<int> xs_of(const Curve<int>& curve) {
  std::vector<int> xs;
  for (const auto& point : curve.points) {
    xs.push_back(point.x);
  }
  return xs;
}

}  // namespace

TEST_CASE("a curve over GPUs has every number of nodes from the first to the last asked for") {
  const Experiment job = test::with_plans(test::small_job({.nodes = 5}), {test::shrink(4, 3)});
  const auto curves = gpu_curves(job, {}, {.fewest_gpus = 7, .most_gpus = 26});
  REQUIRE(curves.plans.size() == 2);
  CHECK(xs_of(curves.plans[1]) == std::vector<int>{8, 12, 16, 20, 24});
  const PreparedExperiment prepared(job);
  CHECK(curves.plans[0].points[3].step == prepared.predict(job.plans[0]).step);
  CHECK(curves.plans[1].points[3].step == prepared.predict(job.plans[1]).step);
  CHECK_THAT(curves.plans[1].points[3].speedup,
             WithinRel(curves.plans[0].points[3].step / curves.plans[1].points[3].step, 1e-12));
}

TEST_CASE("a long curve over GPUs keeps both ends and the job itself") {
  const Experiment job = test::with_plans(test::small_job({.nodes = 23}), {test::shrink(4, 3)});
  const auto xs = xs_of(gpu_curves(job, {}, {.fewest_gpus = 4, .most_gpus = 1000}).plans[1]);
  CHECK(xs.front() == 4);
  CHECK(xs.back() == 1000);
  CHECK(std::count(xs.begin(), xs.end(), 92) == 1);
  CHECK(xs.size() < 50);
}

TEST_CASE("the uncompressed curve has speedup one everywhere against itself") {
  const Experiment job = test::small_job();
  const auto curves = bandwidth_curves(job, {});
  for (const auto& point : curves.plans.front().points) {
    CHECK(point.speedup == 1.0);
  }
}

TEST_CASE("the remedy is a curve of its own, which plans cross at the break-evens against it") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const RemedyLimits casts{0, true, false};
  REQUIRE(reduces_in_32_bits(job));
  const auto curves =
      bandwidth_curves(job, break_evens(job, {.rivals = casts, .band = 0.0}), {.rivals = casts});
  const auto& plan = curves.plans.at(1);
  REQUIRE(plan.break_evens.size() == 1);
  REQUIRE(curves.remedy.points.size() == plan.points.size());
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const bool above = plan.points[i].speedup > curves.remedy.points[i].speedup;
    CHECK(above == (plan.points[i].x <= plan.break_evens.front()));
  }
}

TEST_CASE("the ends of a curve are no break-evens, and a single value that pays is one") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  BreakEven answer;
  answer.label = job.plans[1].label;
  answer.gpus = IntervalSet<int>{{{8, 12, false, false}, {16, 16, false, false}}, 4, 64};
  const auto curve = gpu_curves(job, {answer}, {.fewest_gpus = 8, .most_gpus = 24}).plans.at(1);
  CHECK(curve.break_evens == std::vector<int>{12, 16});
}

TEST_CASE("a sparse curve has a predicted point at a break-even, and at the next number of GPUs") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  BreakEven answer;
  answer.label = job.plans[1].label;
  answer.gpus = IntervalSet<int>{{{412, 1964, false, false}}, 4, 4096};
  const auto curves = gpu_curves(job, {answer}, {.fewest_gpus = 4, .most_gpus = 4000});
  const auto xs = xs_of(curves.plans[1]);
  CHECK(xs.size() < 50);
  for (const int gpus : {408, 412, 1964, 1968}) {
    const auto at = std::find(xs.begin(), xs.end(), gpus);
    INFO(gpus);
    REQUIRE(at != xs.end());
    const PreparedExperiment there(*with_dp(job, gpus));
    CHECK_THAT(curves.plans[1].points.at(static_cast<std::size_t>(at - xs.begin())).speedup,
               WithinRel(there.predict(there.experiment().plans[0]).step /
                             there.predict(there.experiment().plans[1]).step,
                         1e-12));
  }
}

TEST_CASE("a plan that is impossible from some number of GPUs on ends its own curve alone") {
  const Experiment job =
      test::with_plans(test::small_job(), {test::shrink(4, 3), test::shrink_among(412, 4, 3)});
  const auto curves = gpu_curves(job, {}, {.most_gpus = 1000, .band_of = 2});
  const Curve<int> alone =
      gpu_curves(test::with_plans(test::small_job(), {test::shrink(4, 3)}), {}, {.most_gpus = 1000})
          .plans.at(1);
  CHECK(curves.plans[0].points.back().x == 1000);
  CHECK(curves.plans[1].points.back().x == 1000);
  CHECK(curves.plans[1].points.back().step == alone.points.back().step);
  CHECK_FALSE(curves.plans[1].end);
  CHECK(curves.plans[2].points.back().x == 412);
  CHECK(curves.plans[2].end == 412);
  CHECK(curves.plans[2].break_evens.empty());
  CHECK(curves.band.back().x == 412);
  CHECK(curves.why_it_ends.empty());
}

TEST_CASE("a size at which a plan ceases to pay is a model, and the next one does not pay") {
  // Computing grows faster than gradients and their codec: there is less and less to hide.
  const Experiment job = test::with_plans(test::transformer_job(), {test::shrink(4, 60)});
  const auto curves =
      size_curves(job, {.band = 0.0, .fewest_parameters = 1e8, .most_parameters = 1e11});
  const auto& curve = curves.plans.at(1);
  REQUIRE(curve.break_evens.size() == 1);
  const auto at = std::find_if(curve.points.begin(), curve.points.end(), [&](const auto& point) {
    return point.x == curve.break_evens.front();
  });
  REQUIRE(at != curve.points.end());
  REQUIRE(at + 1 != curve.points.end());
  CHECK(at->speedup > 1.0);
  CHECK((at + 1)->speedup <= 1.0);
  // No model lies between the two.
  CHECK(model_sizes(job, at->x, (at + 1)->x, 100'000) == std::vector<double>{at->x, (at + 1)->x});
  const PreparedExperiment there(*with_parameters(job, at->x));
  CHECK(at->step == there.predict(there.experiment().plans[1]).step);
}

TEST_CASE("sizes that pay by more than the band are told as the numbers of GPUs are") {
  const Experiment job = test::with_plans(test::transformer_job(), {test::shrink(4, 60)});
  constexpr double band = 0.05;
  const auto curve =
      size_curves(job, {.band = band, .fewest_parameters = 1e8, .most_parameters = 1e11}).plans[1];
  REQUIRE(curve.pays);
  REQUIRE(curve.pays->intervals.size() == 1);
  CHECK(curve.pays->intervals[0].open_low);
  CHECK_FALSE(curve.pays->intervals[0].open_high);
  CHECK(curve.break_evens == std::vector<double>{curve.pays->intervals[0].high});
  for (const auto& point : curve.points) {
    INFO(point.x);
    CHECK(curve.pays->contains(point.x) == (point.speedup > 1.0 + band));
  }
}

TEST_CASE("the band of a plan holds its most likely speedup") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  const auto curves = gpu_curves(job, {}, {.most_gpus = 64, .band_of = 1});
  REQUIRE(curves.band.size() == curves.plans[1].points.size());
  for (std::size_t i = 0; i < curves.band.size(); ++i) {
    CHECK(curves.band[i].low <= curves.plans[1].points[i].speedup);
    CHECK(curves.band[i].high >= curves.plans[1].points[i].speedup);
  }
}

TEST_CASE("break-evens lie on the curve where its speedup crosses one") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 30)});
  const auto curve = bandwidth_curves(job, break_evens(job, {.band = 0.0})).plans.at(1);
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
  CHECK(bandwidth_curves(test::small_job({.nodes = 1}), {}).plans.empty());
}
