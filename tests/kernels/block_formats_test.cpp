// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/codec/block_scaling.hpp"
#include "kernels/reference/quantized.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

double wide(float value) { return static_cast<double>(value); }

// The largest magnitude of the block that a value belongs to.
double block_top(const std::vector<float>& values, std::size_t index, std::size_t block) {
  const std::size_t begin = index / block * block;
  double top = 0.0;
  for (std::size_t i = begin; i < std::min(values.size(), begin + block); ++i) {
    top = std::max(top, std::abs(wide(values[i])));
  }
  return top;
}

}  // namespace

TEST_CASE("fp8 with a scale errs by at most half a unit in the last place of e4m3") {
  // The scaled value is at most 448. A normal value of e4m3 keeps 4 bits: relative error 2^-4.
  // Below 2^-6 the steps are 2^-9, so half a step is 2^-10 of a scale, which is top / 448, or
  // 2^-126.
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const ScaledCodes message = encode_fp8_blocks(tensor.values);
    const std::vector<float> back = decode_fp8_blocks(message, fp8_block);
    CHECK(message.codes.size() == tensor.values.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
      const double scale =
          std::max(block_top(tensor.values, i, fp8_block) / 448.0, std::ldexp(1.0, -126));
      const double error = std::abs(wide(back[i]) - wide(tensor.values[i]));
      REQUIRE(error <= 1.00001 * std::max(std::abs(wide(tensor.values[i])) / 16.0,
                                          scale * std::ldexp(1.0, -10)));
    }
  }
}

TEST_CASE("one fp8 scale of a tensor is its largest magnitude over 448") {
  const std::vector<float> values = test::drawn(InputKind::student_t3, 1001);
  const ScaledCodes message = encode_fp8_tensor(values);
  REQUIRE(message.scales.size() == 1);
  CHECK_THAT(wide(message.scales[0]),
             Catch::Matchers::WithinRel(block_top(values, 0, values.size()) / 448.0, 1e-6));
  CHECK(std::count_if(message.codes.begin(), message.codes.end(),
                      [](std::uint8_t code) { return (code & 0x7fU) == 0x7eU; }) >= 1);
}

TEST_CASE("an MX block's scale is a power of two, the largest exponent less that of the format") {
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const ScaledCodes message = encode_mxfp8(tensor.values);
    REQUIRE(message.shared.size() == (tensor.values.size() + 31) / 32);
    for (std::size_t block = 0; block < message.shared.size(); ++block) {
      const double top = block_top(tensor.values, block * 32, 32);
      // ilogb of zero is far below any float: the smallest scale.
      const int exponent = top > 0.0 ? std::max(std::ilogb(top) - 8, -127) : -127;
      REQUIRE(static_cast<int>(message.shared[block]) - 127 == exponent);
    }
  }
}

TEST_CASE("MX numbers err by their format's half step, or by what saturates") {
  // With 2^x the scale, magnitudes reach just below 512 (MXFP8) or 8 (MXFP4) scales, the formats
  // 448 or 6: what lies above is cut. Half steps: relative 2^-4 and 2^-2; absolute 2^-10 and 2^-2.
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const ScaledCodes eight = encode_mxfp8(tensor.values);
    const std::vector<float> from_eight = decode_mxfp8(eight);
    const ScaledCodes four = encode_mxfp4(tensor.values);
    const std::vector<float> from_four = decode_mxfp4(four, tensor.values.size());
    CHECK(four.codes.size() == (tensor.values.size() + 1) / 2);
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      const double size = std::abs(wide(tensor.values[i]));
      const double unit8 = std::ldexp(1.0, static_cast<int>(eight.shared[i / 32]) - 127);
      const double unit4 = std::ldexp(1.0, static_cast<int>(four.shared[i / 32]) - 127);
      const double cut8 = size > 448.0 * unit8 ? size - 448.0 * unit8 : 0.0;
      const double cut4 = size > 6.0 * unit4 ? size - 6.0 * unit4 : 0.0;
      REQUIRE(std::abs(wide(from_eight[i]) - wide(tensor.values[i])) <=
              std::max({cut8, size / 16.0, unit8 * std::ldexp(1.0, -10)}));
      REQUIRE(std::abs(wide(from_four[i]) - wide(tensor.values[i])) <=
              std::max({cut4, size / 4.0, unit4 / 4.0}));
    }
  }
}

TEST_CASE("NVFP4 errs by half a step of e2m1 and by the rounding of its block's scale") {
  // A block's scale is top / 6 rounded to e4m3, within 2^-4 of it: the largest value lands between
  // 6 / (1 + 2^-4) and 6 (1 + 2^-4) units and is cut by at most 1/16 of itself or rounded by half
  // of e2m1's steps: 1/4 of a value of 1 and more, 1/4 of a unit below. Scales that are denormal in
  // e4m3 are off by up to 2^-10 of the tensor's scale: six units of that in a value.
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const std::size_t count = tensor.values.size();
    const ScaledCodes message = encode_nvfp4(tensor.values);
    const std::vector<float> back = decode_nvfp4(message, count);
    const double tensor_scale =
        std::max(block_top(tensor.values, 0, count) / (6.0 * 448.0), std::ldexp(1.0, -126));
    CHECK(message.shared.size() == (count + 15) / 16);
    for (std::size_t i = 0; i < count; ++i) {
      const double size = std::abs(wide(tensor.values[i]));
      const double unit = block_top(tensor.values, i, nv_block) / 6.0;
      const double small = 6.0 * tensor_scale * std::ldexp(1.0, -10) + std::ldexp(1.0, -126);
      REQUIRE(std::abs(wide(back[i]) - wide(tensor.values[i])) <=
              1.0001 * std::max(size / 4.0, unit * (1.0 + 1.0 / 16.0) / 4.0) + small);
    }
  }
}
