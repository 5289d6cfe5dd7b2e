// SPDX-License-Identifier: Apache-2.0
#include "model/compute.hpp"

#include <span>

#include "model/matrix_product.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::ideal_gpu;

namespace {

Operator gemm(double rows, double columns, double depth) {
  return {.kind = OperatorKind::gemm, .rows_per_sample = rows, .columns = columns, .depth = depth};
}

Operator attention(double sequence, double heads, double size) {
  return {.kind = OperatorKind::attention,
          .rows_per_sample = sequence,
          .columns = sequence,
          .depth = size,
          .batch_per_sample = heads};
}

// 128 channels in so many groups, 3 x 3, on 56 x 56 positions.
Operator convolution(double groups) {
  Operator op{.kind = OperatorKind::convolution,
              .rows_per_sample = 56 * 56,
              .columns = 128 / groups,
              .depth = 9 * 128 / groups,
              .batch_per_sample = groups};
  op.window = 9;
  return op;
}

Operator pass(Bytes forward, Bytes backward) {
  Operator op{.kind = OperatorKind::memory};
  op.bytes_per_sample = forward;
  op.backward_bytes_per_sample = backward;
  return op;
}

std::vector<Operator> block_operators() {
  return transformer_workload(test::gpt(1, 1024, 16, 512, 50304), 1, false, 2_B)
      .layers.at(1)
      .forward;
}

Software eager() {
  Software software;
  software.hides_launch = 1;
  return software;
}

}  // namespace

// 2560 x 1280 in tiles of 256 x 128: 10 x 10 = 100 tiles, one for each of the 100 units.
TEST_CASE("a product that fills one wave runs at the peak") {
  const Seconds time = arithmetic_time({2560, 1280, 4096}, 100_TFLOPps, ideal_gpu());
  CHECK_THAT(time / 1_us, WithinRel(2.0 * 2560 * 1280 * 4096 / 100e12 * 1e6, 1e-12));
}

// Groups in one thread block are one product that is zero off its diagonal: all of them, one dense
// convolution.
TEST_CASE("no grouped convolution is slower than the dense one of as many channels") {
  const Gpu gpu = ideal_gpu();
  const Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  const auto both_ways = [&](double groups) {
    const Operator op = convolution(groups);
    return forward_time(op, 64, context) + backward_time(std::span(&op, 1), 64, context);
  };
  const Seconds dense = both_ways(1);
  Seconds before = dense;
  for (const double groups : {2.0, 4.0, 8.0, 32.0, 128.0}) {
    const Seconds time = both_ways(groups);
    CHECK(time <= before);
    CHECK(time >= dense / groups);
    before = time;
  }
}

// One tile more starts a second wave. It is cheapest with the 64 x 64 tiles, whose waves are
// shorter; with 256 x 128 tiles alone the time would double.
TEST_CASE("one tile more than the units costs another wave") {
  Gpu gpu = ideal_gpu();
  const Seconds one = arithmetic_time({2560, 1280, 4096}, 100_TFLOPps, gpu);
  const Seconds more = arithmetic_time({2561, 1280, 4096}, 100_TFLOPps, gpu);
  CHECK(more > 1.05 * one);
  CHECK(more <= 2 * one);
}

// depth / (depth + depth_half) of the rate: half of it at depth_half.
TEST_CASE("a product whose depth is depth_half runs at half the rate") {
  Gpu gpu = ideal_gpu();
  const Product product{2560, 1280, 256};
  const Seconds whole = arithmetic_time(product, 100_TFLOPps, gpu);
  gpu.law.depth_half = 256;
  CHECK_THAT(arithmetic_time(product, 100_TFLOPps, gpu) / whole, WithinRel(2.0, 1e-12));
}

// 128 x 128 outputs are one tile: without cuts along the depth 99 units would idle.
TEST_CASE("a small product with a long depth is cut along it") {
  const Seconds time = arithmetic_time({128, 128, 1e6}, 100_TFLOPps, ideal_gpu());
  const Seconds one_unit{2.0 * 128 * 128 * 1e6 / 1e12};
  CHECK(time < 0.03 * one_unit);
  CHECK(time > 0.01 * one_unit);
}

TEST_CASE("a thin product takes the time of its memory traffic") {
  Gpu gpu = ideal_gpu();
  gpu.memory_bandwidth = 500_GBps;
  const Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  // One row: the matrix is read once, 2 B an element.
  const Seconds time = forward_time(gemm(1, 8192, 8192), 1, context);
  CHECK_THAT(time / 1_us, WithinRel(2.0 * (8192.0 * 8192 + 2 * 8192) / 500e9 * 1e6, 1e-12));
}

// The gradients of input and weight are products of the same three numbers, so that a large
// product takes twice its forward backward.
TEST_CASE("backward of a large product takes twice its forward") {
  const Gpu gpu = ideal_gpu();
  const Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  const Operator op = gemm(2560 * 8, 1280 * 8, 2560 * 4);
  const double ratio = backward_time(op, 1, context) / forward_time(op, 1, context);
  CHECK_THAT(ratio, WithinRel(2.0, 0.01));
}

TEST_CASE("without an input gradient backward is the weight gradient alone") {
  const Gpu gpu = ideal_gpu();
  const Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  Operator op = gemm(4096, 4096, 4096);
  const Seconds both = backward_time(op, 1, context);
  op.input_gradient = false;
  CHECK_THAT(both / backward_time(op, 1, context), WithinRel(2.0, 1e-9));
}

TEST_CASE("fused attention skips what the mask hides and what would be scores in memory") {
  const Gpu gpu = ideal_gpu();
  Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  Operator op = attention(4096, 100, 128);
  const Seconds unfused = forward_time(op, 1, context);
  software.fused_attention = true;
  const Seconds fused = forward_time(op, 1, context);
  // 4 s^2 d a operations; 32 blocks of rows for each of 100 heads are whole waves.
  CHECK_THAT(fused / 1_us, WithinRel(4.0 * 4096 * 4096 * 128 * 100 / 100e12 * 1e6, 1e-12));
  op.causal_fraction = 0.5;
  CHECK_THAT(forward_time(op, 1, context) / fused, WithinRel(0.5, 1e-12));
  // Unfused: at least the six passes over a s^2 scores of 2 B, and the mask saves nothing.
  CHECK(unfused > Seconds{6 * 2.0 * 4096 * 4096 * 100 / 1e12});
}

// Dao et al. 2022: backward computes the scores again: five products for two.
TEST_CASE("backward of fused attention takes 5/2 of its forward") {
  const Gpu gpu = ideal_gpu();
  Software software = eager();
  software.fused_attention = true;
  const ComputeContext context{gpu, software, Precision::fp16};
  const Operator op = attention(4096, 100, 128);
  CHECK_THAT(backward_time(op, 1, context) / forward_time(op, 1, context), WithinRel(2.5, 1e-12));
}

TEST_CASE("an element-wise operator takes the time of its traffic and a launch a kernel") {
  Gpu gpu = ideal_gpu();
  gpu.law.launch = 3_us;
  Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  Operator op = pass(1_MB, 2_MB);
  op.kernels = 4;
  op.fused_kernels = 0;
  CHECK_THAT(forward_time(op, 10, context) / 1_us, WithinRel(10.0 + 4 * 3, 1e-12));
  CHECK_THAT(backward_time(op, 10, context) / 1_us, WithinRel(20.0 + 4 * 3, 1e-12));
  software.fused_elementwise = true;
  CHECK(forward_time(op, 10, context) == 0_s);
}

TEST_CASE("launches queue ahead of long kernels and hold up short ones") {
  const Gpu gpu = ideal_gpu();
  Software software = eager();
  software.host_per_kernel = 10_us;
  const ComputeContext context{gpu, software, Precision::fp16};
  const std::vector<Operator> operators{pass(50_MB, {}), pass(1_MB, {}), pass(1_MB, {})};
  // 52 us on the GPU, 30 us on the host.
  CHECK_THAT(forward_time(operators, 1, context) / 1_us, WithinRel(52.0, 1e-12));
  software.hides_launch = 0;  // the GPU waits for each launch: 52 + 30
  CHECK_THAT(forward_time(operators, 1, context) / 1_us, WithinRel(82.0, 1e-12));
  software.hides_launch = 0.5;
  CHECK_THAT(forward_time(operators, 1, context) / 1_us, WithinRel(67.0, 1e-12));
  software.host_per_kernel = 20_us;
  software.hides_launch = 1;
  CHECK_THAT(forward_time(operators, 1, context) / 1_us, WithinRel(60.0, 1e-12));
}

TEST_CASE("the host launches every kernel of an operator") {
  const Gpu gpu = ideal_gpu();
  Software software = eager();
  software.host_per_kernel = 1_ms;
  const ComputeContext context{gpu, software, Precision::fp16};
  for (const int kernels : {1, 2, 5}) {
    Operator op = pass(1_KB, {});
    op.kernels = kernels;
    CHECK_THAT(forward_time(std::vector<Operator>{op}, 1, context) / 1_ms,
               WithinRel(1.0 * kernels, 1e-12));
  }
}

TEST_CASE("all speeds times k and launches by k give times by k") {
  const double k = GENERATE(0.5, 3.0, 17.0);
  const bool fused = GENERATE(false, true);
  Gpu gpu = ideal_gpu();
  gpu.law.launch = 4_us;
  gpu.law.depth_half = 100;
  Software software = eager();
  software.host_per_kernel = 7_us;
  software.hides_launch = 0.7;
  software.fused_attention = fused;
  const auto operators = block_operators();
  const ComputeContext context{gpu, software, Precision::fp16};
  const Seconds forward = forward_time(operators, 4, context);
  const Seconds backward = backward_time(operators, 4, context);
  for (FlopRate& peak : gpu.peak.values) {
    peak *= k;
  }
  gpu.memory_bandwidth *= k;
  gpu.law.launch /= k;
  software.host_per_kernel /= k;
  CHECK_THAT(forward_time(operators, 4, context) / forward, WithinRel(1 / k, 1e-12));
  CHECK_THAT(backward_time(operators, 4, context) / backward, WithinRel(1 / k, 1e-12));
}

TEST_CASE("more samples never take less time, more bandwidth never more") {
  Gpu gpu = ideal_gpu();
  gpu.law.depth_half = 64;
  gpu.law.launch = 2_us;
  const Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp16};
  const auto operators = block_operators();
  Seconds before{};
  for (int samples = 1; samples <= 64; ++samples) {
    const Seconds forward = forward_time(operators, samples, context);
    CHECK(forward >= before);
    before = forward;
  }
  before = backward_time(operators, 8, context);
  for (int doubling = 0; doubling < 6; ++doubling) {
    gpu.memory_bandwidth *= 2;
    const Seconds time = backward_time(operators, 8, context);
    CHECK(time <= before);
    before = time;
  }
}

// 3.2 GB read and written by 16 B a parameter for 2e8 parameters.
TEST_CASE("an update takes the time of its memory traffic") {
  const Gpu gpu = ideal_gpu();
  const Software software = eager();
  Training training;
  training.optimizer_traffic_per_parameter = 16_B;
  const ComputeContext context{gpu, software, Precision::fp16};
  CHECK_THAT(optimizer_time(200'000'000, training, context) / 1_ms, WithinRel(3.2, 1e-12));
}

TEST_CASE("a precision that the GPU lacks is refused, with what it has") {
  const Gpu gpu = ideal_gpu();
  CHECK(check_precision(gpu, Precision::fp16).empty());
  const Problems problems = check_precision(gpu, Precision::fp8);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "training.precision");
  CHECK(problems.front().message == "ideal has no arithmetic units for fp8");
  CHECK(problems.front().help == "it has fp32, fp16, bf16");
}

// 4096 x 4096 by 4096, e elements each: bandwidth 1 TB/s, products too fast to count.
TEST_CASE(
    "what an fp8 product reads is cast: twice written beside the kernel before, or five bytes") {
  Gpu gpu = ideal_gpu();
  gpu.peak[Precision::fp8] = 1e9 * 1_TFLOPps;
  gpu.peak[Precision::bf16] = 1e9 * 1_TFLOPps;
  Software software = eager();
  const ComputeContext context{gpu, software, Precision::fp8};
  const Operator op = gemm(4096, 4096, 4096);
  const Bytes elements{4096.0 * 4096.0};
  const Bytes product = 2 * elements + 2 * elements;  // operands in 8 bits, result in 16
  const auto moved = [&](Seconds time) { return time * gpu.memory_bandwidth / elements; };
  const double once = product / elements;
  // Apart: input and weight forward; gradient, weight and input backward, beside two products.
  CHECK_THAT(moved(forward_time(op, 1, context)), WithinRel(once + 5 * 2, 1e-9));
  CHECK_THAT(moved(backward_time(op, 1, context)), WithinRel(2 * once + 5 * 3, 1e-9));
  software.fused_elementwise = true;
  CHECK_THAT(moved(forward_time(op, 1, context)), WithinRel(once + 2, 1e-9));
  CHECK_THAT(moved(backward_time(op, 1, context)), WithinRel(2 * once + 4, 1e-9));
  // Gradients of inputs and of weights apart are the whole.
  const Seconds parts = price_backward(std::span(&op, 1), 1, context, BackwardPart::inputs).time +
                        price_backward(std::span(&op, 1), 1, context, BackwardPart::weights).time;
  CHECK_THAT(parts / backward_time(op, 1, context), WithinRel(1.0, 1e-9));
}

TEST_CASE("the ends of a model stay in 16 bits where its products are fp8") {
  Gpu gpu = ideal_gpu();
  gpu.peak[Precision::fp8] = 2 * gpu.peak[Precision::bf16];
  const Software software = eager();
  Operator head = gemm(4096, 4096, 4096);
  head.in_16_bits = true;
  const Seconds wide = forward_time(head, 1, {gpu, software, Precision::fp8});
  CHECK(wide == forward_time(head, 1, {gpu, software, Precision::bf16}));
  const Workload model =
      transformer_workload(test::gpt(2, 1024, 16, 512, 50304), 1, false, {2_B, 1_B});
  for (const Layer& layer : model.layers) {
    for (const Operator& op : layer.forward) {
      if (op.kind == OperatorKind::gemm) {
        CHECK(op.in_16_bits == !layer.recomputable);
      }
    }
  }
}

TEST_CASE("kernels that read 16 bits as they are do not pay for the casts of mixed precision") {
  const Gpu gpu = ideal_gpu();
  Software software = eager();
  software.memory_traffic_ratio = 2;
  Operator op = pass(1_GB, 2_GB);
  const ComputeContext mixed{gpu, software, Precision::fp16};
  const Seconds cast = forward_time(op, 1, mixed);
  op.casts = false;
  CHECK_THAT(cast / forward_time(op, 1, mixed), WithinRel(2.0, 1e-12));
}
