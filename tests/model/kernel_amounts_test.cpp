// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_amounts.hpp"

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

Operator product(double rows, double columns, double depth) {
  Operator op;
  op.kind = OperatorKind::gemm;
  op.rows_per_sample = rows;
  op.columns = columns;
  op.depth = depth;
  return op;
}

struct Parts {
  Gpu gpu;
  Software software;

  [[nodiscard]] ComputeContext context(Precision precision = Precision::fp16) const {
    return {gpu, software, precision};
  }
};

}  // namespace

TEST_CASE("a range covers what lies between its ends, an empty one nothing") {
  FitRange<Bytes> range;
  CHECK(range.empty());
  const FitRange<Bytes> other{2_MB, 3_MB};
  CHECK_FALSE(range.covers(other));
  CHECK(range.covers({}));  // no kernel is beyond no measurement
  range.include(3_MB);
  range.include(0_B);
  CHECK(range == FitRange<Bytes>{0_B, 3_MB});
  CHECK(range.covers(other));
  CHECK_FALSE(range.covers({2_MB, 4_MB}));
  range.include(FitRange<Bytes>{});
  CHECK(range.largest == 3_MB);
}

TEST_CASE("a product counts by its arithmetic in both passes, 2 r d c") {
  const std::vector<Operator> operators{product(10, 20, 30), product(1, 2, 3)};
  const Parts parts;
  for (const KernelAmounts& amounts : {forward_kernels(operators, 4, parts.context()),
                                       backward_kernels(operators, 4, parts.context())}) {
    CHECK(amounts.products[Precision::fp16] ==
          FitRange<Flops>{2.0 * 4 * 1 * 2 * 3 * 1_flop, 2.0 * 4 * 10 * 20 * 30 * 1_flop});
    CHECK(amounts.products[Precision::fp32].empty());
    CHECK(amounts.convolutions.empty());
    CHECK(amounts.streams.empty());
  }
}

TEST_CASE("attention is one kernel where it is fused, else products and passes over the scores") {
  Operator scores = product(64, 64, 16);
  scores.kind = OperatorKind::attention;
  scores.batch_per_sample = 8;
  Parts parts;
  const Flops one = 2.0 * 64 * 64 * 16 * 8 * 1_flop;
  const KernelAmounts unfused = forward_kernels({&scores, 1}, 1, parts.context(Precision::fp8));
  CHECK(unfused.attention.empty());
  CHECK(unfused.products[Precision::bf16] == FitRange<Flops>{one, one});
  CHECK(unfused.streams == FitRange<Bytes>{2.0 * 64 * 64 * 8 * 2_B, 2.0 * 64 * 64 * 8 * 2_B});
  parts.software.fused_attention = true;
  const KernelAmounts fused = forward_kernels({&scores, 1}, 1, parts.context(Precision::fp8));
  CHECK(fused.attention == FitRange<Flops>{2.0 * one, 2.0 * one});
  CHECK(fused.streams.empty());
}

TEST_CASE("a memory-bound operator streams its traffic, divided among its kernels") {
  Operator norm;
  norm.kind = OperatorKind::memory;
  norm.bytes_per_sample = 6_MB;
  norm.backward_bytes_fixed = 1_MB;
  norm.kernels = 3;
  norm.fused_kernels = 1;
  Parts parts;
  CHECK(forward_kernels({&norm, 1}, 2, parts.context()).streams == FitRange<Bytes>{4_MB, 4_MB});
  parts.software.fused_elementwise = true;
  CHECK(forward_kernels({&norm, 1}, 2, parts.context()).streams == FitRange<Bytes>{12_MB, 12_MB});
  CHECK(backward_kernels({&norm, 1}, 2, parts.context()).streams == FitRange<Bytes>{1_MB, 1_MB});
}

TEST_CASE("a step has the kernels of its layers, its optimiser and its buckets") {
  Experiment job = test::small_job();
  job.software.bucket_copy_passes = 2;
  const StepKernels kernels = step_kernels(PreparedExperiment(job));
  // 16 samples of 64 rows in products of 2,048 x 2,048, 12 layers of them.
  const Flops one = 2.0 * 16 * 64 * 2048 * 2048 * 1_flop;
  CHECK(kernels.forward.products[Precision::fp32] == FitRange<Flops>{one, one});
  CHECK(kernels.recompute.products[Precision::fp32].empty());
  const double parameters = 12 * (2048.0 * 2048 + 2048);
  CHECK(kernels.optimizer.largest == parameters * job.training.optimizer_traffic_per_parameter);
  CHECK(kernels.bucket_copies.largest >= 2.0 * job.training.bucket);
  job.layout.recompute = Recompute::full;
  Workload layers = *table_of(job.model);
  layers.layers[3].recomputable = true;
  job.model = layers;
  CHECK(step_kernels(PreparedExperiment(job)).recompute.products[Precision::fp32] ==
        FitRange<Flops>{one, one});
}

TEST_CASE("an optimiser whose state is divided updates the largest share, rounded up") {
  Experiment job = test::small_job();
  const int ranks = job.cluster.gpus();
  Workload layers = *table_of(job.model);
  layers.layers.front().parameters.push_back({1, 1, false});  // not to be shared equally
  job.model = layers;
  const StepKernels whole = step_kernels(PreparedExperiment(job));
  const Bytes each = job.training.optimizer_traffic_per_parameter;
  const auto parameters = static_cast<std::int64_t>(whole.optimizer.largest / each + 0.5);
  REQUIRE(parameters % ranks == 1);
  job.layout.zero = 1;
  const double share = static_cast<double>((parameters - 1) / ranks + 1);
  CHECK(step_kernels(PreparedExperiment(job)).optimizer.largest == share * each);
}

TEST_CASE("a pass of a codec counts the traffic of an average kernel") {
  CodecKernels kernels;
  include(kernels, {12_MB, {}, {}, 4, 0});
  include(kernels, {1_MB, 64_B, 5_flop, 0, 1});
  include(kernels, {});
  CHECK(kernels.streams == FitRange<Bytes>{1_MB, 3_MB});
  CHECK(kernels.gathers == FitRange<Bytes>{64_B, 64_B});
  CHECK(kernels.products == FitRange<Flops>{5_flop, 5_flop});
}
