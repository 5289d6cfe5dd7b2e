// SPDX-License-Identifier: Apache-2.0
#include "study/remedy.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

TEST_CASE("without changes the variant is the job") {
  const Experiment job = test::small_job();
  const Variant variant = uncompressed_variant(job, {});
  CHECK(variant.description.empty());
  CHECK(variant.step_per_batch() == PreparedExperiment(job).predict(job.plans.front()).step);
}

TEST_CASE("a user who allows nothing gets no remedy but overlap") {
  const RemedyLimits none{0, false, false, false};
  CHECK(best_remedy(test::small_job(), none).change == Change{});
  Experiment serial = test::small_job({.nic = 100_Gbps});
  serial.training.overlap = false;
  CHECK(best_remedy(serial, none).change == Change{.overlap = true});
}

TEST_CASE("casting costs six bytes of memory traffic an element each way") {
  Experiment job = test::small_job();
  job.training.overlap = false;
  const Variant cast = uncompressed_variant(job, {.sixteen_bit = true});
  double elements = 0;
  for (const Bucket& bucket : cast.plan.stages[0].buckets) {
    elements += static_cast<double>(cast.plan.kind(bucket).elements);
  }
  const double buckets = static_cast<double>(cast.plan.stages[0].buckets.size());
  // 0.8 of 1 TB/s, and 5 us a launch
  const Seconds expected = buckets * 5_us + 6_B * elements / (0.8 * 1_TBps);
  CHECK_THAT(cast.prediction.waterfall.encode / expected, WithinRel(1.0, 1e-9));
}

TEST_CASE("accumulation goes to the user's limit of the global batch and not beyond") {
  const Experiment job = test::small_job();  // 16 GPUs x 16 samples = 256
  const RemedyLimits limits{1024, false, false};
  const Variant remedy = best_remedy(job, limits);
  CHECK(remedy.change == Change{.accumulation = 4});
  CHECK(remedy.batches == 4);
  // One reduction for four batches, the compute of all of them.
  CHECK(remedy.prediction.dp_bytes == uncompressed_variant(job, {}).prediction.dp_bytes);
  CHECK_THAT(remedy.prediction.waterfall.forward /
                 uncompressed_variant(job, {}).prediction.waterfall.forward,
             WithinRel(4.0, 1e-12));
  CHECK_THAT(remedy.description, ContainsSubstring("4 x the micro-batches"));
}

TEST_CASE("buckets too small for a network of long latency are a fault that buckets mend") {
  Experiment job = test::small_job({.layers = 40, .nic = 400_Gbps});
  job.cluster.network.law.launch = 2_ms;
  job.training.bucket = 1_MiB;
  const Variant remedy = best_remedy(job, {0, false, true});
  CHECK(remedy.change.bucket > 16_MiB);
  CHECK(remedy.step_per_batch() < 0.8 * uncompressed_variant(job, {}).step_per_batch());
  CHECK_THAT(remedy.description, ContainsSubstring("buckets of"));
}

TEST_CASE("no remedy is slower than the job, and none that hardly helps is named") {
  for (const Bandwidth nic : {1_Gbps, 10_Gbps, 100_Gbps, 400_Gbps}) {
    const Experiment job = test::small_job({.nic = nic});
    const Variant as_given = uncompressed_variant(job, {});
    const Variant remedy = best_remedy(job, {2048, true, true});
    CHECK(remedy.step_per_batch() <= as_given.step_per_batch());
    if (!(remedy.change == Change{})) {
      CHECK(remedy.step_per_batch() < 0.999 * as_given.step_per_batch());
    }
  }
}

TEST_CASE("NCCL_ALGO is a remedy where NCCL's choice costs more than another by more than noise") {
  Experiment job = test::small_job({.nodes = 64});
  // A chunk that costs much besides its bytes: a ring of 64 nodes fills 63 stages, a tree 12.
  job.cluster.network.law.ramp = 20_ms;
  const PreparedExperiment prepared(job);
  const Variant given = uncompressed_variant(prepared, {});
  REQUIRE(better_algorithms(prepared, given.plan) == std::vector{Algorithm::tree});
  const Variant remedy = best_remedy(prepared, {0, false, false, true});
  CHECK(remedy.change == Change{.algorithm = Algorithm::tree});
  CHECK(remedy.description == "NCCL_ALGO=tree");
  CHECK(remedy.prediction.step < given.prediction.step);
  for (const BucketKind& kind : remedy.plan.kinds) {
    const Message& message = kind.rounds.front().message;
    const auto tree = prepared.data_network().price_pinned(message.collective, message.size,
                                                           Algorithm::tree, Protocol::none);
    REQUIRE(tree);
    CHECK(message.alone == tree->time);
  }
  CHECK(best_remedy(prepared, {0, false, false, false}).change == Change{});
  // Prices that differ by less than their spread decide nothing.
  for (double* sd :
       {&job.cluster.network.law.relative_sd_middle, &job.cluster.network.law.relative_sd_large}) {
    *sd = 20;
  }
  CHECK(best_remedy(job, {0, false, false, true}).change == Change{});
}

TEST_CASE("NCCL_ALGO is no remedy where it would change other messages too") {
  Experiment job = test::small_job({.nodes = 64});
  job.cluster.network.law.ramp = 20_ms;
  job.layout.zero = 1;
  const PreparedExperiment prepared(job);
  CHECK(better_algorithms(prepared, prepared.plan(job.plans.front())).empty());
}
