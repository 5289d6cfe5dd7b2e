// SPDX-License-Identifier: Apache-2.0
#include "study/payoff.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "model/groups.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

AssessOptions few_draws() {
  AssessOptions options;
  options.draws = 32;
  return options;
}

StepPrediction predict(const Experiment& experiment, std::size_t plan = 0) {
  REQUIRE(check(experiment).empty());
  return PreparedExperiment(experiment).predict(experiment.plans[plan]);
}

}  // namespace

TEST_CASE("copied tensor by tensor, a bucket takes a launch for each of its tensors both ways") {
  Experiment job = test::small_job();
  job.software.bucket_copy_passes = 2.0;
  const auto copies = [&](bool each) {
    job.software.copies_each_tensor = each;
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    Seconds sum;
    for (const Bucket& bucket : plan.buckets(0)) {
      sum += plan.kind(bucket).rounds.front().encode.bucket_copy;
      sum += plan.kind(bucket).decode.bucket_copy;
    }
    return std::pair(sum, plan.buckets(0).size());
  };
  const auto [together, buckets] = copies(false);
  const Seconds apart = copies(true).first;
  // 12 layers of a matrix and a bias.
  const double launches = 2.0 * (2 * 12 - static_cast<double>(buckets));
  REQUIRE(launches > 0);
  REQUIRE(job.cluster.gpu.law.launch > 0_s);
  CHECK_THAT((apart - together) / job.cluster.gpu.law.launch, WithinRel(launches, 1e-6));
}

TEST_CASE("ratio 1 with a free codec is no compression, in every draw and to the last bit") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(1, 0)});
  job.software.bucket_copy_passes = GENERATE(0.0, 2.0);
  const Payoff payoff = assess(job, few_draws());
  const PlanPayoff& none = payoff.plans[0];
  const PlanPayoff& same = payoff.plans[1];
  CHECK(same.prediction.step == none.prediction.step);
  CHECK(same.prediction.waterfall.total() == none.prediction.waterfall.total());
  CHECK(same.against_uncompressed.speedup == 1.0);
  CHECK(same.against_uncompressed.speedup_low == 1.0);
  CHECK(same.against_uncompressed.speedup_high == 1.0);
  CHECK(same.against_uncompressed.verdict() == Verdict::no_difference);
}

TEST_CASE("a codec that works on buckets pays for their copies, one that does not saves them") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 1), test::shrink(4, 1)});
  job.training.overlap = false;
  job.software.bucket_copy_passes = 2.0;
  job.plans[2].method->bypasses_buckets = true;
  const Waterfall none = predict(job, 0).waterfall;
  const Waterfall in_buckets = predict(job, 1).waterfall;
  const Waterfall beside = predict(job, 2).waterfall;
  CHECK(none.bucket_copy > 0_s);
  CHECK_THAT(in_buckets.bucket_copy / none.bucket_copy, WithinRel(1.0, 1e-9));
  CHECK_THAT(in_buckets.encode / beside.encode, WithinRel(1.0, 1e-9));
  CHECK_THAT(in_buckets.decode / beside.decode, WithinRel(1.0, 1e-9));
  CHECK(beside.bucket_copy == 0_s);
  CHECK(predict(job, 2).step < predict(job, 1).step);
}

TEST_CASE("cheap and strong pays on a slow network, costly and weak does not on a fast one") {
  const Experiment slow = test::with_plans(test::small_job(), {test::shrink(16, 2)});
  CHECK(assess(slow, few_draws()).plans[1].against_uncompressed.verdict() == Verdict::pays);
  const Experiment fast =
      test::with_plans(test::small_job({.nic = 400_Gbps}), {test::shrink(2, 50)});
  CHECK(assess(fast, few_draws()).plans[1].against_uncompressed.verdict() == Verdict::does_not);
}

TEST_CASE("a gain that is within the error of the prediction is too close to call") {
  // Walk the codec's cost to where the predicted speedup is 1.
  double low = 0;
  double high = 3000;
  for (int i = 0; i < 40; ++i) {
    const double passes = (low + high) / 2;
    const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, passes)});
    (predict(job, 1).step < predict(job).step ? low : high) = passes;
  }
  const Experiment even = test::with_plans(test::small_job(), {test::shrink(4, low)});
  const Comparison result = assess(even).plans[1].against_uncompressed;
  CHECK_THAT(result.speedup, WithinRel(1.0, 1e-6));
  CHECK(result.verdict() == Verdict::too_close_to_call);
  CHECK(result.speedup_low < 1.0);
  CHECK(result.speedup_high > 1.0);
}

TEST_CASE("a 32-bit baseline flatters: the gain against 16-bit reduction is smaller") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(8, 2)});
  const Payoff payoff = assess(job, few_draws());
  REQUIRE(payoff.sixteen_bit);
  REQUIRE(payoff.plans[1].against_sixteen_bit);
  CHECK(payoff.plans[1].against_sixteen_bit->speedup <
        payoff.plans[1].against_uncompressed.speedup);
  // Half the bytes of every bucket travel, in as many buckets.
  CHECK_THAT(payoff.sixteen_bit->prediction.dp_bytes / payoff.plans[0].prediction.dp_bytes,
             WithinRel(0.5, 1e-12));
  CHECK(payoff.sixteen_bit->plan.stages[0].buckets.size() ==
        PreparedExperiment(job).plan(job.plans[0]).stages[0].buckets.size());
}

TEST_CASE("a job that reduces in 16 bits already has no second baseline") {
  const Payoff payoff = assess(test::small_job({.gradient = Precision::fp16}), few_draws());
  CHECK_FALSE(payoff.sixteen_bit);
  CHECK_FALSE(payoff.plans[0].against_sixteen_bit);
}

TEST_CASE("the slack of convergence makes time to accuracy equal") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(8, 2)});
  const Payoff payoff = assess(job, few_draws());
  const double slack = payoff.plans[1].against_uncompressed.convergence_slack_ratio();
  CHECK_THAT((1.0 + slack) * payoff.plans[1].prediction.step / payoff.plans[0].prediction.step,
             WithinRel(1.0, 1e-12));
}

TEST_CASE("the same question has the same answer, bit by bit") {
  const Experiment job = test::with_plans(test::small_job(), {test::sparse(0.01, 5)});
  const Payoff a = assess(job);
  const Payoff b = assess(job);
  CHECK(a.plans[1].step_low == b.plans[1].step_low);
  CHECK(a.plans[1].against_remedy.probability == b.plans[1].against_remedy.probability);
}

// Metamorphic tests of the whole prediction.

TEST_CASE("all speeds times k and all latencies divided by k divide the step by k") {
  // NCCL's own estimates know absolute speeds: with a factor near one it makes the same choices.
  const double k = GENERATE(1.02, 0.99);
  const Experiment job =
      test::with_plans(test::small_job(), {test::shrink(4, 3), test::sparse(0.01, 2)});
  const Experiment faster = test::all_faster(job, k);
  for (std::size_t plan = 0; plan < job.plans.size(); ++plan) {
    CHECK_THAT(predict(job, plan).step / predict(faster, plan).step, WithinRel(k, 1e-9));
  }
}

TEST_CASE("where NCCL chooses the same, more bandwidth is never slower") {
  const auto choices = [](const Experiment& job) {
    const CollectiveModel network(job.cluster, data_group(job.layout, job.cluster.gpus_per_node));
    std::vector<std::pair<Algorithm, Protocol>> result;
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    for (const Bucket& bucket : plan.stages[0].buckets) {
      const Message& message = plan.kind(bucket).rounds[0].message;
      const CollectivePrice price = network.price(message.collective, message.size);
      result.emplace_back(price.algorithm, price.protocol);
    }
    return result;
  };
  Experiment before = test::small_job({.nic = 1_Gbps});
  int compared = 0;
  for (Bandwidth nic = 1.25_Gbps; nic < 400_Gbps; nic *= 1.25) {
    const Experiment job = test::small_job({.nic = nic});
    if (choices(job) == choices(before)) {
      CHECK(predict(job).step <= predict(before).step);
      ++compared;
    }
    before = job;
  }
  CHECK(compared > 15);
}

TEST_CASE("one GPU has nothing to send and nothing to gain") {
  Experiment job = test::small_job({.nodes = 1});
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  const Payoff payoff = assess(job, few_draws());
  CHECK(payoff.plans[0].prediction.waterfall.exposed_dp == 0_s);
  CHECK(payoff.plans[0].prediction.dp_bytes == 0_B);
  CHECK(payoff.remedy.description.empty());
  // ... and a compression for it is refused, not priced at zero.
  CHECK_FALSE(check(test::with_plans(job, {test::shrink(4, 1)})).empty());
}

TEST_CASE("one layer, prime counts and 1,048,576 GPUs have an answer") {
  const auto [nodes, layers] =
      GENERATE(std::pair{4, 1}, std::pair{1, 1}, std::pair{7, 13}, std::pair{262144, 12});
  const Experiment job = test::with_plans(test::small_job({.nodes = nodes, .layers = layers}),
                                          {test::shrink(4, 2), test::sparse(0.01, 2)});
  REQUIRE(check(job).empty());
  const Payoff payoff = assess(job, few_draws());
  for (const PlanPayoff& plan : payoff.plans) {
    CHECK(plan.prediction.step > 0_s);
    CHECK(std::isfinite(plan.prediction.step / 1_s));
    CHECK_THAT(plan.prediction.waterfall.total() / plan.prediction.step, WithinRel(1.0, 1e-9));
  }
}

TEST_CASE("a count that does not fill the nodes is an error with a reason") {
  Experiment job = test::small_job();
  job.layout.dp = 13;
  const Problems problems = check(job);
  REQUIRE_FALSE(problems.empty());
  CHECK(problems.front().path == "layout.dp");
}

TEST_CASE("what is switched off costs nothing") {
  const Experiment job = test::small_job();
  const StepPrediction plain = predict(job);
  CHECK(plain.waterfall.encode == 0_s);
  CHECK(plain.waterfall.decode == 0_s);
  CHECK(plain.waterfall.recompute == 0_s);
  CHECK(plain.waterfall.exposed_tp == 0_s);
  CHECK(plain.waterfall.exposed_pp == 0_s);
  CHECK(plain.waterfall.bubble == 0_s);
  CHECK(plain.waterfall.bucket_copy == 0_s);
}

TEST_CASE("a gain counts from the band of noise on") {
  // Walk the codec's cost to a gain of 1.5 %, which no draw of compute or codec changes much. One
  // bucket: the codec runs beside nothing.
  Experiment job = test::small_job();
  job.training.bucket = job.training.first_bucket = 100_GB;
  job.cluster.gpu.law.relative_sd = 1e-6;
  job.software.relative_sd = 1e-6;
  for (LinkLaw* law : {&job.cluster.fabric.law, &job.cluster.network.law}) {
    law->relative_sd_small = law->relative_sd_middle = law->relative_sd_large = 1e-6;
  }
  double low = 0;
  double high = 3000;
  for (int i = 0; i < 40; ++i) {
    const double passes = (low + high) / 2;
    const Experiment at = test::with_plans(job, {test::shrink(4, passes)});
    (1.015 * predict(at, 1).step < predict(at).step ? low : high) = passes;
  }
  job = test::with_plans(job, {test::shrink(4, low)});
  job.plans[1].method->law.relative_sd = 1e-6;
  const auto with_band = [&](double band) {
    AssessOptions options = few_draws();
    options.band = band;
    return assess(job, options).plans[1].against_uncompressed.verdict();
  };
  CHECK(with_band(0.0) == Verdict::pays);
  CHECK(with_band(0.01) == Verdict::pays);
  CHECK(with_band(0.02) == Verdict::no_difference);
}

TEST_CASE("what does not fit the memory is not recommended, however fast") {
  Experiment job =
      test::with_plans(test::small_job({.nic = 1_Gbps}), {test::shrink(16, 2), test::shrink(2, 2)});
  const Payoff fits = assess(job, few_draws());
  CHECK(fits.overall_verdict() == Verdict::pays);
  CHECK(fits.best_plan() == &fits.plans[1]);
  // The first plan keeps state that takes what was left.
  PreparedExperiment prepared(job);
  job.cluster.gpu.memory = 1.001 * prepared.predict(job.plans[2]).memory.total();
  job.plans[1].method->state_bytes =
      Expression::parse("4 * n", formula_names(job.plans[1].method->parameters)).expression;
  const Payoff one = assess(job, few_draws());
  CHECK(Payoff::verdict_of(one.plans[1]) == Verdict::does_not_fit);
  CHECK(one.best_plan() == &one.plans[2]);
  job.cluster.gpu.memory = 1_MB;
  const Payoff none = assess(job, few_draws());
  CHECK(none.best_plan() == nullptr);
  CHECK(none.overall_verdict() == Verdict::does_not_fit);
}
