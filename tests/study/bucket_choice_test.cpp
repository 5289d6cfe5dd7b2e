// SPDX-License-Identifier: Apache-2.0
#include "study/bucket_choice.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/step.hpp"
#include "study/advice.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

bool allow_all(const CompressionPlan& /*plan*/, const StepPlan& /*planned*/) { return true; }

Method method_of(const CompressionPlan& plan) { return *plan.method; }

// Layers of many sizes: first and last ones matter most to what is exposed.
Experiment uneven_job(std::mt19937& random, int layers) {
  Experiment job = test::small_job({.nodes = 4, .layers = layers, .nic = 10_Gbps});
  std::uniform_int_distribution<std::int64_t> rows(64, 4096);
  std::uniform_real_distribution<double> nic(2, 100);
  job.cluster.nic = nic(random) * 1_Gbps;
  Workload uneven = *table_of(job.model);
  for (Layer& layer : uneven.layers) {
    const std::int64_t width = rows(random);
    layer.forward.front().columns = static_cast<double>(width);
    layer.parameters = {{width, 2048, true}};
  }
  job.model = uneven;
  job.training.bucket = 1_B;  // a bucket a tensor
  job.training.first_bucket = 1_B;
  return job;
}

// Every way, put together here: what a bucket has is a digit of a number.
struct Brute {
  Seconds step = std::numeric_limits<double>::infinity() * 1_s;
  std::uint64_t tried{};
};

Brute brute_force(const PreparedExperiment& job, const std::vector<Method>& methods,
                  std::size_t buckets) {
  Brute best;
  std::uint64_t all = 1;
  for (std::size_t i = 0; i < buckets; ++i) {
    all *= methods.size() + 1;
  }
  for (std::uint64_t number = 0; number < all; ++number, ++best.tried) {
    std::vector<std::vector<BlockRange>> of(methods.size());
    std::uint64_t rest = number;
    for (std::size_t i = 0; i < buckets; ++i, rest /= methods.size() + 1) {
      if (const std::uint64_t digit = rest % (methods.size() + 1); digit > 0) {
        of[digit - 1].push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)});
      }
    }
    CompressionPlan plan;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      if (of[m].empty()) {
        continue;
      }
      if (!plan.method) {
        plan.method = methods[m];
        plan.buckets.ranges = of[m];
      } else {
        plan.others.push_back({methods[m], {of[m]}});
      }
    }
    best.step = std::min(best.step, job.predict(plan).step);
  }
  return best;
}

}  // namespace

TEST_CASE("the chosen buckets make the shortest step of all ways, as tried one by one") {
  std::mt19937 random(9);
  const std::vector<Method> methods{method_of(test::shrink(20, 6)), method_of(test::shrink(3, 1))};
  for (int trial = 0; trial < 12; ++trial) {
    const Experiment experiment = uneven_job(random, 5);
    const PreparedExperiment job(experiment);
    BucketChooser chooser(job, allow_all);
    REQUIRE(chooser.buckets() == 5);
    const BucketChoice exact = chooser.choose({{experiment.plans.front(), methods}}, 243);
    CHECK(exact.is_exact);
    const Brute brute = brute_force(job, methods, 5);
    CHECK(brute.tried == 243);
    CHECK_THAT(exact.step.si, WithinRel(brute.step.si, 1e-9));
    CHECK(job.predict(exact.plan).step == exact.step);
  }
}

TEST_CASE("changing one bucket at a time comes within a per cent of all ways") {
  std::mt19937 random(99);
  const std::vector<Method> methods{method_of(test::shrink(20, 6)), method_of(test::shrink(3, 1))};
  int optimal = 0;
  constexpr int trials = 12;
  for (int trial = 0; trial < trials; ++trial) {
    const Experiment experiment = uneven_job(random, 6);
    const PreparedExperiment job(experiment);
    BucketChooser chooser(job, allow_all);
    const BucketChoice fast = chooser.choose({{experiment.plans.front(), methods}}, 1);
    CHECK_FALSE(fast.is_exact);
    const Brute brute = brute_force(job, methods, 6);
    CHECK(fast.step <= 1.01 * brute.step);
    CHECK(fast.evaluated < brute.tried);
    optimal += fast.step <= (1 + 1e-9) * brute.step ? 1 : 0;
  }
  CHECK(optimal >= trials * 3 / 4);
}

TEST_CASE("of equal steps fewer buckets are compressed") {
  // Messages that backward hides: nothing gains.
  Experiment job = test::small_job({.nodes = 2, .layers = 4, .nic = 10'000_Gbps});
  job.cluster.fabric.law.launch = 1_ns;
  const PreparedExperiment prepared(job);
  BucketChooser chooser(prepared, allow_all);
  const BucketChoice choice =
      chooser.choose({{job.plans.front(), {method_of(test::shrink(2, 1000))}}}, 1 << 20);
  CHECK_FALSE(choice.plan.method);
  CHECK(choice.step == prepared.predict(job.plans.front()).step);
}

TEST_CASE("naming all buckets is naming none") {
  std::mt19937 random(3);
  const Experiment experiment = uneven_job(random, 6);
  const PreparedExperiment job(experiment);
  CompressionPlan plan = test::shrink(10, 1);
  const StepPrediction all = job.predict(plan);
  plan.buckets.ranges = {{0, 5}};
  CHECK(job.predict(plan).step == all.step);
  CHECK(job.predict(plan).dp_bytes == all.dp_bytes);
  // The same method under two names of buckets is one method.
  plan.buckets.ranges = {{0, 1}, {4, 5}};
  plan.others = {{*plan.method, {{{2, 3}}}}};
  CHECK(job.predict(plan).step == all.step);
}

TEST_CASE("a bucket sends what its own method says, and the others what they always did") {
  std::mt19937 random(4);
  const Experiment experiment = uneven_job(random, 4);
  const PreparedExperiment job(experiment);
  CompressionPlan plan = test::shrink(10, 1);
  plan.buckets.ranges = {{1, 1}};
  plan.others = {{method_of(test::shrink(2, 0)), {{{3, 3}}}}};
  const StepPlan planned = job.plan(plan);
  const StepPlan dense = job.plan(experiment.plans.front());
  const std::vector<double> ratios{1, 10, 1, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    const BucketKind& kind = planned.kind(planned.buckets(0)[i]);
    const BucketKind& whole = dense.kind(dense.buckets(0)[i]);
    CHECK(kind.elements == whole.elements);
    CHECK(kind.left_dense == (i % 2 == 0));
    CHECK_THAT(kind.rounds.front().message.size * ratios[i] / whole.rounds.front().message.size,
               WithinRel(1.0, 1e-9));
  }
  CHECK(planned.kind(planned.buckets(0)[1]).decode.method == 0);
  CHECK(planned.kind(planned.buckets(0)[3]).decode.method == 1);
}

TEST_CASE("both engines run plans that treat buckets differently alike") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 8; ++trial) {
    const Experiment experiment = uneven_job(random, 8);
    const PreparedExperiment job(experiment);
    CompressionPlan plan = test::shrink(10, 1);
    plan.placement = trial % 2 == 0 ? Placement::compute_stream : Placement::side_stream;
    plan.buckets.ranges = {{trial % 3, trial % 3 + 2}};
    plan.others = {{method_of(test::two_rounds(4, 1)), {{{5, 6}}}}};
    const StepPlan planned = job.plan(plan);
    CHECK_THAT(sim::simulate(planned, {}).prediction.step.si,
               WithinRel(job.predict(planned).step.si, 1e-3));
  }
}

TEST_CASE("advice tells buckets apart where that gains more than the band") {
  std::mt19937 random(5);
  Experiment experiment = uneven_job(random, 6);
  experiment.cluster.nic = 5_Gbps;
  const Experiment job = test::with_plans(experiment, {test::shrink(20, 40)});
  AdviceOptions options;
  options.draws = 4;
  options.band = 0;
  const Advice advice = advise(job, options);
  CHECK(advice.buckets.buckets == 6);
  CHECK(advice.buckets.is_exact);
  const PreparedExperiment prepared(experiment);
  Seconds shortest = prepared.predict(experiment.plans.front()).step;
  for (const Placement placement :
       {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
    for (int number = 1; number < 1 << 6; ++number) {
      CompressionPlan plan = test::shrink(20, 40);
      plan.placement = placement;
      for (int i = 0; i < 6; ++i) {
        if ((number >> i) % 2 == 1) {
          plan.buckets.ranges.push_back({i, i});
        }
      }
      shortest = std::min(shortest, prepared.predict(plan).step);
    }
  }
  CHECK_THAT(advice.step.si, WithinRel(shortest.si, 1e-9));
}

TEST_CASE("a budget holds for what chosen buckets send together") {
  std::mt19937 random(6);
  Experiment experiment = uneven_job(random, 5);
  experiment.cluster.nic = 2_Gbps;
  const Experiment job =
      test::with_plans(experiment, {test::shrink(2, 0), test::shrink(50, 0), test::shrink(8, 0)});
  AdviceOptions options;
  options.draws = 4;
  options.band = 0;
  options.budget.most_ratio = 8;
  const Advice advice = advise(job, options);
  REQUIRE(advice.advised > 0);
  for (const Method* method : advice.compared.plans[advice.advised].gradient_methods()) {
    CHECK(method->parameters.at("ratio") <= 8);
  }
}
