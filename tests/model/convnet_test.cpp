// SPDX-License-Identifier: Apache-2.0
#include "model/convnet.hpp"

#include "model/compute.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

ConvnetRow convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t side,
                       std::int64_t stride = 1, bool bias = false) {
  return {.name = "conv",
          .op = ConvnetOperator::convolution,
          .in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .height = side,
          .width = side,
          .bias = bias};
}

ConvnetRow norm(std::int64_t channels, std::int64_t side) {
  return {.name = "norm",
          .op = ConvnetOperator::norm,
          .in = channels,
          .out = channels,
          .height = side,
          .width = side};
}

ConvnetRow linear(std::int64_t in, std::int64_t out) {
  return {.name = "fc", .op = ConvnetOperator::linear, .in = in, .out = out, .bias = true};
}

// He et al. 2015, table 1, with torchvision's details: stride on the 3x3 convolution.
std::vector<ConvnetRow> resnet_50() {
  std::vector<ConvnetRow> rows{convolution(3, 64, 7, 112, 2), norm(64, 112)};
  std::int64_t in = 64;
  std::int64_t width = 64;
  std::int64_t side = 56;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && width > 64 ? 2 : 1;
      rows.push_back(convolution(in, width, 1, side * stride));
      rows.push_back(norm(width, side * stride));
      rows.push_back(convolution(width, width, 3, side, stride));
      rows.push_back(norm(width, side));
      rows.push_back(convolution(width, 4 * width, 1, side));
      rows.push_back(norm(4 * width, side));
      if (block == 0) {
        rows.push_back(convolution(in, 4 * width, 1, side, stride));
        rows.push_back(norm(4 * width, side));
      }
      in = 4 * width;
    }
    width *= 2;
    side /= 2;
  }
  rows.push_back(linear(2048, 1000));
  return rows;
}

std::vector<ConvnetRow> vgg_16() {
  std::vector<ConvnetRow> rows;
  std::int64_t in = 3;
  std::int64_t side = 224;
  for (const auto& [out, count] : {std::pair{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < count; ++i) {
      rows.push_back(convolution(in, out, 3, side, 1, true));
      in = out;
    }
    side /= 2;
  }
  rows.push_back(linear(512 * 7 * 7, 4096));
  rows.push_back(linear(4096, 4096));
  rows.push_back(linear(4096, 1000));
  return rows;
}

double multiply_adds(const Workload& workload) {
  double sum = 0;
  for (const Layer& layer : workload.layers) {
    for (const Operator& op : layer.forward) {
      sum += forward_flops(op) / 2_flop;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("ResNet-50 and VGG-16 have torchvision's parameters") {
  CHECK(convnet_workload("resnet-50", resnet_50(), 4_B).parameters() == 25'557'032);
  CHECK(convnet_workload("vgg-16", vgg_16(), 4_B).parameters() == 138'357'544);
}

// torchvision documents 4.09 and 15.47 GFLOPS (multiply-adds) for these weights; He et al. 2015
// count 3.8e9 for ResNet-50 with the stride on the first 1x1 convolution.
TEST_CASE("a forward image of ResNet-50 and VGG-16 takes the documented multiply-adds") {
  CHECK_THAT(multiply_adds(convnet_workload("resnet-50", resnet_50(), 4_B)),
             WithinRel(4.09e9, 0.002));
  CHECK_THAT(multiply_adds(convnet_workload("vgg-16", vgg_16(), 4_B)), WithinRel(15.47e9, 0.002));
}

TEST_CASE("a grouped convolution has a share of the weights and of the arithmetic") {
  ConvnetRow row = convolution(128, 128, 3, 14);
  const Workload whole = convnet_workload("whole", {row}, 4_B);
  row.groups = 32;
  const Workload grouped = convnet_workload("grouped", {row}, 4_B);
  CHECK(whole.parameters() == 32 * grouped.parameters());
  CHECK_THAT(multiply_adds(whole) / multiply_adds(grouped), WithinRel(32.0, 1e-12));
}

TEST_CASE("the first convolution computes no gradient of its input") {
  const Workload workload =
      convnet_workload("two", {convolution(3, 64, 3, 32), convolution(64, 64, 3, 32)}, 4_B);
  CHECK_FALSE(workload.layers.front().forward.front().input_gradient);
  CHECK(workload.layers.back().forward.front().input_gradient);
}

TEST_CASE("a biased convolution yields its weight, then its bias") {
  const Workload workload = convnet_workload("one", {convolution(16, 32, 3, 8, 1, true)}, 4_B);
  const auto& tensors = workload.layers.front().parameters;
  REQUIRE(tensors.size() == 2);
  CHECK((tensors[0].rows == 32 && tensors[0].columns == 16 * 9 && tensors[0].is_matrix));
  CHECK((tensors[1].rows == 32 && tensors[1].columns == 1 && !tensors[1].is_matrix));
}

// Tensors read and written. Normalisation: once for the statistics, once for the values, which are
// written; backward reads both its input and its gradient for the sums, and again for the gradient
// that it writes. ReLU: in and out; backward reads the gradient and what went out. A sum: two in,
// one out; backward adds the gradients of the two branches. Pooling: in and out, both ways.
TEST_CASE("the rows between convolutions move as many tensors as their kernels read and write") {
  constexpr double elements = 64.0 * 56 * 56;
  const auto tensors = [&](ConvnetOperator op) {
    ConvnetRow row = norm(64, 56);
    row.op = op;
    const Workload workload = convnet_workload("two", {convolution(3, 64, 3, 56), row}, 2_B);
    REQUIRE(workload.layers.back().forward.size() == 1);
    const Operator& moved = workload.layers.back().forward.front();
    return std::pair{moved.bytes_per_sample / (2_B * elements),
                     moved.backward_bytes_per_sample / (2_B * elements)};
  };
  CHECK(tensors(ConvnetOperator::norm) == std::pair{2.0 + 1, (1.0 + 1) + (1 + 1) + 1});
  CHECK(tensors(ConvnetOperator::elementwise) == std::pair{1.0 + 1, (1.0 + 1) + 1});
  CHECK(tensors(ConvnetOperator::add) == std::pair{2.0 + 1, 2.0 + 1});
  CHECK(tensors(ConvnetOperator::pool) == std::pair{1.0 + 1, 1.0 + 1});
}

// cuDNN's batch normalisation, ReLU and pooling read and write the format of their tensors.
TEST_CASE("no memory-bound kernel of a convolutional network is surrounded by casts") {
  for (const Layer& layer : convnet_workload("resnet", resnet_50(), 2_B).layers) {
    for (const Operator& op : layer.forward) {
      CHECK((op.kind != OperatorKind::memory || !op.casts));
    }
  }
}
