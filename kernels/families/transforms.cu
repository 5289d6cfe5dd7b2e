// SPDX-License-Identifier: Apache-2.0
// Hadamard transforms by tiles, alone and with quantisation to 4 bits: in one kernel, and round
// after round through memory.
#include "kernels/device/transforms.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/group_operators.cuh"
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

// Random signs as a tensor, one and minus one.
PAYOFF_KERNEL void draw_signs(float* signs, RandomKey key, std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    signs[i] = with_random_sign(1.0F, key, i);
  }
}

// The values behind the tensor's end are zero.
PAYOFF_KERNEL void signed_and_padded(const float* in, const float* signs, float* out,
                                     std::size_t count, std::size_t padded) {
  const std::size_t i = global_thread();
  if (i < padded) {
    out[i] = i < count ? in[i] * signs[i] : 0.0F;
  }
}

// One round of all tiles from one tensor to another: sums and differences of halves.
PAYOFF_KERNEL void butterfly_round(const float* in, float* out, unsigned round, std::size_t pairs) {
  const std::size_t pair = global_thread();
  if (pair < pairs) {
    const PairOfPlaces places = butterfly_places(pair, round);
    const Butterfly result = butterfly(in[places.low], in[places.high]);
    out[places.low] = result.sum;
    out[places.high] = result.difference;
  }
}

struct TimesConstant : Stateless<TimesConstant> {
  float factor;
  explicit PAYOFF_HD TimesConstant(float given) : factor(given) {}
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return value * factor;
  }
};

// The transform where every round goes through memory.
struct Rounds {
  Shared<float> signs;
  Shared<float> first;
  Shared<float> second;

  explicit Rounds(std::size_t padded)
      : signs(array_of<float>(padded)),
        first(array_of<float>(padded)),
        second(array_of<float>(padded)) {}

  void run(Stream s, const float* in, float* out, int log2_tile, RandomKey key,
           std::size_t count) const {
    const std::size_t padded = signs->count();
    launch_threads(s, padded, draw_signs, signs->data(), key, padded);
    float* from = first->data();
    float* to = second->data();
    launch_threads(s, padded, signed_and_padded, in, signs->data(), from, count, padded);
    for (int round = 0; round < log2_tile; ++round) {
      launch_threads(s, padded / 2, butterfly_round, from, to, static_cast<unsigned>(round),
                     padded / 2);
      std::swap(from, to);
    }
    map<4>(s, from, out, padded, TimesConstant{hadamard_norm(log2_tile)});
  }
};

// Signs drawn, their product, log2(tile) rounds, the norm.
[[nodiscard]] Traffic rounds_traffic(std::size_t elements, int log2_tile) {
  return streamed(elements, 12 + 4.0 * log2_tile, 12 + 4.0 * log2_tile, 3 + log2_tile);
}

Benchmark transform_by_operators(const Shape& shape, int log2_tile) {
  const double tile = static_cast<double>(std::size_t{1} << static_cast<unsigned>(log2_tile));
  Benchmark b{point_of("hadamard", "transforms", "framework_ops", shape, {{"tile", tile}},
                       rounds_traffic(shape.elements, log2_tile)),
              bytes_of(20.0 * (static_cast<double>(shape.elements) + tile)),
              {}};
  b.make = [shape, log2_tile] {
    const std::size_t padded = padded_to(shape.elements, log2_tile);
    auto in = drawn_on_device(shape);
    auto out = array_of<float>(padded);
    const Rounds rounds(padded);
    return Work{
        [=](Stream s) {
          rounds.run(s, in->data(), out->data(), log2_tile, key_of(shape), shape.elements);
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

// The transform's rounds, then the quantiser: magnitude, maxima, product, shift, clamp, cast and
// packing.
Benchmark hadamard_then_quantize(const Shape& given) {
  const Shape shape = whole_tiles(given);
  const Traffic traffic =
      in_turn(rounds_traffic(shape.elements, 5), quantizing_traffic<32, 4, false>(shape.elements));
  Benchmark b{point_of("hadamard_quantize", "transforms", "framework_ops", shape,
                       {{"tile", 32}, {"bits", 4}, {"group", 32}}, traffic),
              bytes_of(30.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const Rounds rounds(n);
    auto transformed = array_of<float>(n);
    auto codes = array_of<Byte>(n / 2);
    auto steps = array_of<float>(n / 32);
    const Between between(n, steps->count());
    return Work{[=](Stream s) {
                  rounds.run(s, in->data(), transformed->data(), 5, key_of(shape), n);
                  quantize_in_steps<32, 4, false>(s, transformed->data(), codes->data(),
                                                  steps->data(), between, shape);
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
    all.push_back(transform_by_operators(shape, 10));
    all.push_back(hadamard_and_quantize(shape));
    all.push_back(hadamard_then_quantize(shape));
  }
  for (const Shape& shape : few_shapes(plan)) {
    if (plan.every_variant) {
      all.push_back(hadamard_transform(shape, 5));
      all.push_back(hadamard_transform(shape, 7));
    }
  }
  return all;
}

}  // namespace payoff::kernels
