// SPDX-License-Identifier: Apache-2.0
// Formats with a scale each few values: e4m3 of 128, MXFP8, MXFP4, NVFP4.
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"
#include "kernels/reference/quantized.hpp"

namespace payoff::kernels {
namespace {

Benchmark fp8_by_blocks(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 4, 1 + 4.0 / fp8_block, 1);
  Benchmark b{point_of("fp8_blocks", "blocks", "fused", shape, {{"group", 128}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n);
    auto scales = array_of<float>(divided_up(n, fp8_block));
    return Work{[=](Stream s) {
                  launch_threads(s, scales->count() * GroupLayout<fp8_block>::lanes,
                                 fp8_blocks<float>, in->data(), codes->data(), scales->data(), n);
                },
                [=] {
                  const ScaledCodes expected = encode_fp8_blocks(in->read());
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("scales", *scales, expected.scales));
                },
                [=] { return checksum_of(*codes, *scales); }};
  };
  return b;
}

using BlockKernel = void (*)(const float*, Byte*, Byte*, std::size_t);
using BlockReference = ScaledCodes (*)(std::span<const float>);

// `code_bytes` for a value, and a byte each `block` values.
struct SharedScaleFormat {
  std::string name;
  std::size_t block;
  double code_bytes;
  unsigned lanes;
  BlockKernel kernel;
  BlockReference reference;
};

Benchmark with_shared_exponent(const SharedScaleFormat& format, const Shape& shape) {
  const double written = format.code_bytes + 1.0 / static_cast<double>(format.block);
  const Traffic traffic = streamed(shape.elements, 4, written, 1);
  Benchmark b{point_of(format.name, "blocks", "fused", shape,
                       {{"group", static_cast<double>(format.block)}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape, format] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(format.code_bytes < 1.0 ? divided_up(n, 2) : n);
    auto scales = array_of<Byte>(divided_up(n, format.block));
    return Work{[=](Stream s) {
                  launch_threads(s, scales->count() * format.lanes, format.kernel, in->data(),
                                 codes->data(), scales->data(), n);
                },
                [=] {
                  const ScaledCodes expected = format.reference(in->read());
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("scales", *scales, expected.shared));
                },
                [=] { return checksum_of(*codes, *scales); }};
  };
  return b;
}

Benchmark nvfp4(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 8, 0.5 + 1.0 / nv_block, 3);
  Benchmark b{point_of("nvfp4", "blocks", "fused", shape, {{"group", 16}}, traffic),
              bytes_of(5.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(divided_up(n, 2));
    auto scales = array_of<Byte>(divided_up(n, nv_block));
    auto key = array_of<Word>(1);
    return Work{[=](Stream s) {
                  find_largest(s, in->data(), key->data(), n);
                  launch_threads(s, scales->count() * GroupLayout<nv_block>::lanes,
                                 nvfp4_blocks<float>, in->data(), codes->data(), scales->data(),
                                 key->data(), n);
                },
                [=] {
                  const ScaledCodes expected = encode_nvfp4(in->read());
                  return first_of(differs("codes", *codes, expected.codes),
                                  differs("scales", *scales, expected.shared));
                },
                [=] { return checksum_of(*codes, *scales); }};
  };
  return b;
}

// A framework without block formats: magnitudes, a maximum each block, products, clamp, cast.
Benchmark fp8_blocks_by_operators(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 20 + 4.0 / fp8_block, 13 + 8.0 / fp8_block, 5);
  Benchmark b{point_of("fp8_blocks", "blocks", "framework_ops", shape, {{"group", 128}}, traffic),
              bytes_of(13.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto first = array_of<float>(n);
    auto second = array_of<float>(n);
    auto codes = array_of<Byte>(n);
    auto scales = array_of<float>(divided_up(n, fp8_block));
    auto inverse = array_of<float>(divided_up(n, fp8_block));
    return Work{
        [=](Stream s) {
          map<4>(s, in->data(), first->data(), n, Magnitude{});
          launch_threads(s, scales->count() * GroupLayout<fp8_block>::lanes,
                         scales_of_groups<fp8_block>, first->data(), scales->data(),
                         inverse->data(), e4m3_top, n);
          map<4>(s, in->data(), first->data(), n, TimesGroupFactor{inverse->data(), fp8_block});
          map<4>(s, first->data(), second->data(), n, Clamp{-e4m3_top, e4m3_top});
          map<4>(s, second->data(), codes->data(), n, FloatToE4m3{});
        },
        [=] {
          const ScaledCodes expected = encode_fp8_blocks(in->read());
          return first_of(differs("codes", *codes, expected.codes),
                          differs("scales", *scales, expected.scales));
        },
        [=] { return checksum_of(*codes, *scales); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> block_benchmarks(const Plan& plan) {
  const SharedScaleFormat mxfp8{
      "mxfp8", mx_block, 1.0, GroupLayout<mx_block>::lanes, mx_blocks<Mxfp8, float>, encode_mxfp8};
  const SharedScaleFormat mxfp4{
      "mxfp4", mx_block, 0.5, GroupLayout<mx_block>::lanes, mx_blocks<Mxfp4, float>, encode_mxfp4};
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(fp8_by_blocks(shape));
    all.push_back(fp8_blocks_by_operators(shape));
    all.push_back(with_shared_exponent(mxfp8, shape));
    all.push_back(with_shared_exponent(mxfp4, shape));
    all.push_back(nvfp4(shape));
  }
  return all;
}

}  // namespace payoff::kernels
