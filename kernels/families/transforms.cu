// SPDX-License-Identifier: Apache-2.0
// Hadamard transforms by tiles, alone and fused with quantisation to 4 bits.
#include "kernels/device/groups.cuh"
#include "kernels/device/transforms.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/reference/quantized.hpp"
#include "kernels/reference/transforms.hpp"

namespace payoff::kernels {
namespace {

constexpr std::uint64_t sign_stream = 31;

[[nodiscard]] std::size_t padded_to(std::size_t count, int log2_tile) {
  const std::size_t tile = std::size_t{1} << static_cast<unsigned>(log2_tile);
  return divided_up(count, tile) * tile;
}

[[nodiscard]] RandomKey key_of(const Shape& shape) { return {shape.seed, sign_stream}; }

Benchmark hadamard_transform(const Shape& shape, int log2_tile) {
  const double tile = static_cast<double>(std::size_t{1} << static_cast<unsigned>(log2_tile));
  Benchmark b{point_of("hadamard", "transforms", "fused", shape, {{"tile", tile}},
                       streamed(shape.elements, 4, 4, 1)),
              bytes_of(8.0 * (static_cast<double>(shape.elements) + tile)),
              {}};
  b.make = [shape, log2_tile] {
    const std::size_t n = shape.elements;
    const std::size_t padded = padded_to(n, log2_tile);
    auto in = drawn_on_device(shape);
    auto out = array_of<float>(padded);
    return Work{
        [=](Stream s) {
          launch(s, divided_up(padded, hadamard_block), block_threads, hadamard_tiles<true>,
                 in->data(), out->data(), log2_tile, key_of(shape), n, padded);
        },
        [=] { return differs("values", *out, hadamard(in->read(), log2_tile, key_of(shape))); },
        [=] { return checksum_of(*out); }};
  };
  return b;
}

// Whole tiles of 32: the fused kernel has no padding.
[[nodiscard]] Shape whole_tiles(Shape shape) {
  shape.elements = padded_to(shape.elements, 5);
  return shape;
}

[[nodiscard]] std::string transformed_mismatch(const std::vector<float>& in,
                                               const DeviceArray<Byte>& codes,
                                               const DeviceArray<float>& steps, RandomKey key) {
  const ScaledCodes expected =
      quantize_groups(hadamard(in, 5, key), {4, 32, Rounding::nearest, {}});
  return first_of(differs("codes", codes, expected.codes),
                  differs("steps", steps, expected.scales));
}

Benchmark hadamard_and_quantize(const Shape& given) {
  const Shape shape = whole_tiles(given);
  const Traffic traffic = streamed(shape.elements, 4, 0.625, 1);
  Benchmark b{point_of("hadamard_quantize", "transforms", "fused", shape,
                       {{"tile", 32}, {"bits", 4}, {"group", 32}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n / 2);
    auto steps = array_of<float>(n / 32);
    return Work{[=](Stream s) {
                  launch(s, divided_up(n, hadamard_block), block_threads, hadamard_quantize,
                         in->data(), codes->data(), steps->data(), key_of(shape), n);
                },
                [=] { return transformed_mismatch(in->read(), *codes, *steps, key_of(shape)); },
                [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

// The transform to memory, then the quantiser: two kernels that a framework has as extensions.
Benchmark hadamard_then_quantize(const Shape& given) {
  const Shape shape = whole_tiles(given);
  const Traffic traffic = streamed(shape.elements, 8, 4.625, 2);
  Benchmark b{point_of("hadamard_quantize", "transforms", "framework_ops", shape,
                       {{"tile", 32}, {"bits", 4}, {"group", 32}}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto between = array_of<float>(n);
    auto codes = array_of<Byte>(n / 2);
    auto steps = array_of<float>(n / 32);
    return Work{[=](Stream s) {
                  launch(s, divided_up(n, hadamard_block), block_threads, hadamard_tiles<true>,
                         in->data(), between->data(), 5, key_of(shape), n, n);
                  launch_threads(s, steps->count() * GroupLayout<32>::lanes,
                                 quantize_group_values<32, 4, false, float>, between->data(),
                                 codes->data(), steps->data(), n, RandomKey{});
                },
                [=] { return transformed_mismatch(in->read(), *codes, *steps, key_of(shape)); },
                [=] { return checksum_of(*codes, *steps); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> transform_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(hadamard_transform(shape, 10));
    all.push_back(hadamard_and_quantize(shape));
    all.push_back(hadamard_then_quantize(shape));
    if (plan.every_variant) {
      all.push_back(hadamard_transform(shape, 5));
      all.push_back(hadamard_transform(shape, 7));
    }
  }
  return all;
}

}  // namespace payoff::kernels
