// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "model/experiment.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Whole predictions of jobs that use tensor, pipeline and data parallelism at once. Those of data
// parallelism alone are in payoff_test.cpp.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

struct Layout {
  int dp{4};
  int tp{4};
  int pp{4};
  int virtual_stages{1};
  int micro_batches{8};
  int layers{16};
  Bandwidth nic{100_Gbps};
};

// A GPT of 1,024 columns on nodes of 4.
Experiment three_ways(const Layout& layout) {
  Experiment job =
      test::small_job({.nodes = layout.dp * layout.tp * layout.pp / 4, .nic = layout.nic});
  job.model = TransformerShape{.name = "small",
                               .family = TransformerFamily::gpt,
                               .layers = layout.layers,
                               .hidden = 1024,
                               .heads = 16,
                               .kv_heads = 16,
                               .head_size = 64,
                               .feed_forward = 4096,
                               .vocabulary = 51200,
                               .positions = 512,
                               .sequence = 512};
  job.layout.dp = layout.dp;
  job.layout.tp = layout.tp;
  job.layout.pp = layout.pp;
  job.layout.virtual_stages = layout.virtual_stages;
  job.layout.micro_batches = layout.micro_batches;
  job.layout.micro_batch = 2;
  return job;
}

StepPrediction predict(const Experiment& job, CompressionPlan plan, Placement placement = {}) {
  REQUIRE(check(job).empty());
  plan.placement = placement;
  return PreparedExperiment(job).predict(plan);
}

}  // namespace

TEST_CASE("a pipeline of tensor-parallel stages scales with its machine, interleaved or not") {
  const Experiment job = three_ways({.virtual_stages = GENERATE(1, 2, 4)});
  // NCCL's tuner knows absolute speeds, in steps, of which 100 Gb/s and 150 GB/s are the lower
  // ends.
  const double k = GENERATE(1.0001, 1.002);
  const Experiment faster =
      test::all_faster(test::with_plans(job, {test::shrink(4, 3), test::sparse(0.01, 2)}), k);
  for (const Placement placement :
       {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
    CHECK_THAT(predict(job, test::shrink(4, 3), placement).step /
                   predict(faster, faster.plans[1], placement).step,
               WithinRel(k, 1e-9));
    CHECK_THAT(predict(job, test::sparse(0.01, 2), placement).step /
                   predict(faster, faster.plans[2], placement).step,
               WithinRel(k, 1e-9));
  }
}

TEST_CASE("everything k times as fast takes a k-th of the time in both engines, choices pinned") {
  // NCCL's choice knows absolute speeds, so it is pinned; at ten times 1 Gb/s no PCIe slot is full.
  constexpr NcclPin pin{Algorithm::ring, Protocol::simple};
  const double k = GENERATE(2.0, 10.0);
  const Experiment job =
      test::with_plans(three_ways({.virtual_stages = GENERATE(1, 2), .nic = 1_Gbps}),
                       {test::shrink(4, 3), test::sparse(0.01, 2)});
  const Experiment fast = test::all_faster(job, k);
  REQUIRE(check(job).empty());
  const PreparedExperiment slower(job, pin);
  const PreparedExperiment faster(fast, pin);
  const auto simulated = [](const PreparedExperiment& prepared, const StepPlan& plan) {
    const Experiment& experiment = prepared.experiment();
    return sim::simulate(plan, sim::Platform(experiment.cluster, experiment.layout)).prediction;
  };
  for (std::size_t i = 0; i < job.plans.size(); ++i) {
    INFO(job.plans[i].label << ", k " << k);
    const StepPlan slow_plan = slower.plan(job.plans[i]);
    const StepPlan fast_plan = faster.plan(fast.plans[i]);
    CHECK_THAT(slower.predict(slow_plan).step / faster.predict(fast_plan).step, WithinRel(k, 1e-9));
    // Its clock has whole picoseconds, some thousand activities long.
    CHECK_THAT(simulated(slower, slow_plan).step / simulated(faster, fast_plan).step,
               WithinRel(k, 1e-6));
  }
}

TEST_CASE("ratio 1 with a free codec is no compression on every stream of a pipeline") {
  const Experiment job = three_ways({.virtual_stages = GENERATE(1, 2)});
  for (const Placement placement :
       {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
    const StepPrediction none = predict(job, job.plans[0], placement);
    const StepPrediction same = predict(job, test::shrink(1, 0), placement);
    CHECK(same.step == none.step);
    CHECK(same.waterfall.total() == none.waterfall.total());
  }
}

TEST_CASE("a pipeline of one layer a stage, prime counts and 1,048,576 GPUs have an answer") {
  const Layout layout =
      GENERATE(Layout{.layers = 4}, Layout{.dp = 7, .tp = 4, .pp = 5, .layers = 5},
               Layout{.dp = 13, .pp = 2, .layers = 3}, Layout{.dp = 1, .tp = 4, .pp = 3},
               Layout{.dp = 65536, .virtual_stages = 2}, Layout{.dp = 262144, .tp = 4, .pp = 1});
  const Experiment job = three_ways(layout);
  for (const CompressionPlan& plan : {job.plans[0], test::shrink(4, 2), test::sparse(0.01, 2)}) {
    const StepPrediction prediction = predict(job, plan);
    CHECK(prediction.step > 0_s);
    CHECK(std::isfinite(prediction.step / 1_s));
    CHECK_THAT(prediction.waterfall.total() / prediction.step, WithinRel(1.0, 1e-9));
    CHECK(prediction.waterfall.bubble >= -1e-9 * prediction.step);
    CHECK(prediction.hidden_dp >= 0_s);
  }
}

TEST_CASE("times do not overflow: a hundred thousand micro-batches take as many times as long") {
  const auto step = [](int micro_batches) {
    const Experiment job = three_ways({.pp = 1, .micro_batches = micro_batches});
    return predict(job, job.plans[0]).step;
  };
  const Seconds each = step(1001) - step(1000);
  CHECK_THAT((step(100000) - step(1000)) / (99000 * each), WithinRel(1.0, 1e-6));
}

TEST_CASE("a model that is a thousand times as large takes finite time and memory") {
  Experiment job = three_ways({});
  auto& shape = std::get<TransformerShape>(job.model);
  shape.hidden = 1048576;
  shape.feed_forward = 4 * shape.hidden;
  shape.heads = 4096;
  shape.kv_heads = 4096;
  shape.head_size = 256;
  const StepPrediction prediction = predict(job, test::shrink(4, 2));
  // 16 blocks of 12 h^2 parameters, divided among 16 GPUs, 4 B each in fp32.
  const Bytes parameters = 12.0 * 1048576 * 1048576 * 4_B;
  CHECK(prediction.memory.parameters > parameters);
  CHECK(prediction.memory.parameters < 1.1 * parameters);
  CHECK_FALSE(prediction.memory.fits());
  CHECK(std::isfinite(prediction.step / 1_s));
}
