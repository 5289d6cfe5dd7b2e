// SPDX-License-Identifier: Apache-2.0
// Casts to 16 and 8 bits, and back: fused, and as a framework's operators do them, each through
// memory. A cast alone is one operator there as well.
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"
#include "kernels/reference/quantized.hpp"

namespace payoff::kernels {
namespace {

// One value to another by one kernel: `expected` gives the reference's output.
template <typename Out, typename Op, typename Expected>
Benchmark one_cast(std::string kernel, std::string implementation, const Shape& shape, const Op& op,
                   const Expected& expected) {
  const Traffic traffic = streamed(shape.elements, 4, sizeof(Out), 1);
  Benchmark b{point_of(std::move(kernel), "casts", std::move(implementation), shape, {}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape, op, expected] {
    auto in = drawn_on_device(shape);
    auto out = array_of<Out>(shape.elements);
    return Work{[=](Stream s) { map<8>(s, in->data(), out->data(), shape.elements, op); },
                [=] { return differs("cast", *out, expected(in->read())); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

template <typename Out, typename Convert>
auto each_value(const Convert& convert) {
  return [convert](const std::vector<float>& values) {
    std::vector<Out> converted;
    converted.reserve(values.size());
    for (const float value : values) {
      converted.push_back(convert(value));
    }
    return converted;
  };
}

Benchmark from_bf16(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 2, 4, 1);
  Benchmark b{point_of("uncast_bf16", "casts", "fused", shape, {}, traffic),
              bytes_of(10.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    auto half = array_of<Bf16>(shape.elements);
    auto out = array_of<float>(shape.elements);
    map<8>(Stream{}, in->data(), half->data(), shape.elements, FloatToBf16{});
    wait_for(Stream{});
    return Work{
        [=](Stream s) { map<8>(s, half->data(), out->data(), shape.elements, Bf16ToFloat{}); },
        [=] {
          return differs("values", *out, each_value<float>([](float value) {
                           return to_float(to_bf16(value));
                         })(in->read()));
        },
        [=] { return checksum_of(*out); }};
  };
  return b;
}

Benchmark fp8_tensor(const Shape& shape) {
  Benchmark b{
      point_of("fp8_tensor", "casts", "fused", shape, {}, streamed(shape.elements, 8, 1, 3)),
      bytes_of(5.0 * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n);
    auto key = array_of<Word>(1);
    return Work{[=](Stream s) {
                  find_largest(s, in->data(), key->data(), n);
                  map<8>(s, in->data(), codes->data(), n, FloatToFp8{key->data()});
                },
                [=] { return differs("codes", *codes, encode_fp8_tensor(in->read()).codes); },
                [=] { return checksum_of(*codes, *key); }};
  };
  return b;
}

// The reciprocal of the scale, as an operator on a tensor of one value.
PAYOFF_KERNEL void inverse_scale(const Word* key, float* inverse) {
  if (global_thread() == 0) {
    *inverse = 1.0F / block_scale(float_of(*key), e4m3_top);
  }
}

// Magnitude, maximum, scale, product, clamp, cast: one kernel and one tensor each.
Benchmark fp8_by_operators(const Shape& shape) {
  Benchmark b{point_of("fp8_tensor", "casts", "framework_ops", shape, {},
                       streamed(shape.elements, 20, 13, 7)),
              bytes_of(13.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto first = array_of<float>(n);
    auto second = array_of<float>(n);
    auto codes = array_of<Byte>(n);
    auto key = array_of<Word>(1);
    auto inverse = array_of<float>(1);
    return Work{[=](Stream s) {
                  map<4>(s, in->data(), first->data(), n, Magnitude{});
                  find_largest(s, first->data(), key->data(), n);
                  launch(s, 1, warp_lanes, inverse_scale, key->data(), inverse->data());
                  map<4>(s, in->data(), first->data(), n, TimesScalar{inverse->data()});
                  map<4>(s, first->data(), second->data(), n, Clamp{-e4m3_top, e4m3_top});
                  map<4>(s, second->data(), codes->data(), n, FloatToE4m3{});
                },
                [=] { return differs("codes", *codes, encode_fp8_tensor(in->read()).codes); },
                [=] { return checksum_of(*codes, *key); }};
  };
  return b;
}

Benchmark fp8_decode(const Shape& shape) {
  Benchmark b{
      point_of("fp8_decode", "casts", "fused", shape, {}, streamed(shape.elements, 1, 4, 1)),
      bytes_of(9.0 * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n);
    auto key = array_of<Word>(1);
    auto out = array_of<float>(n);
    find_largest(Stream{}, in->data(), key->data(), n);
    map<8>(Stream{}, in->data(), codes->data(), n, FloatToFp8{key->data()});
    wait_for(Stream{});
    return Work{
        [=](Stream s) { map<8>(s, codes->data(), out->data(), n, Fp8ToFloat{key->data()}); },
        [=] {
          return differs("values", *out, decode_fp8_blocks(encode_fp8_tensor(in->read()), n));
        },
        [=] { return checksum_of(*out); }};
  };
  return b;
}

// A framework has no scaled cast: the codes' values to memory, then their product with the scale.
PAYOFF_KERNEL void scale_of_key(const Word* key, float* scale) {
  if (global_thread() == 0) {
    *scale = block_scale(float_of(*key), e4m3_top);
  }
}

Benchmark fp8_decode_by_operators(const Shape& shape) {
  Benchmark b{point_of("fp8_decode", "casts", "framework_ops", shape, {},
                       streamed(shape.elements, 5, 8, 3)),
              bytes_of(13.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n);
    auto key = array_of<Word>(1);
    auto scale = array_of<float>(1);
    auto values = array_of<float>(n);
    auto out = array_of<float>(n);
    find_largest(Stream{}, in->data(), key->data(), n);
    map<8>(Stream{}, in->data(), codes->data(), n, FloatToFp8{key->data()});
    wait_for(Stream{});
    return Work{[=](Stream s) {
                  launch(s, 1, warp_lanes, scale_of_key, key->data(), scale->data());
                  map<4>(s, codes->data(), values->data(), n, CodeToFloat<e4m3>{});
                  map<4>(s, values->data(), out->data(), n, TimesScalar{scale->data()});
                },
                [=] {
                  return differs("values", *out,
                                 decode_fp8_blocks(encode_fp8_tensor(in->read()), n));
                },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// A worker's share of a mean in 16 bits, rounded twice: what torch.distributed's compression hooks
// send, `buffer.to(float16).div_(workers)`.
template <typename Narrow>
struct Narrowing;
template <>
struct Narrowing<Bf16> {
  static constexpr const char* name = "cast_mean_bf16";
  [[nodiscard]] PAYOFF_HD static Bf16 of(float value) { return to_bf16(value); }
};
template <>
struct Narrowing<Half> {
  static constexpr const char* name = "cast_mean_fp16";
  [[nodiscard]] PAYOFF_HD static Half of(float value) { return to_half(value); }
};

template <typename Narrow>
struct ToNarrow : Stateless<ToNarrow<Narrow>> {
  [[nodiscard]] __device__ Narrow operator()(float value, unsigned /*i*/) const {
    return Narrowing<Narrow>::of(value);
  }
};
template <typename Narrow>
struct DividedBy : Stateless<DividedBy<Narrow>> {
  float divisor;
  explicit PAYOFF_HD DividedBy(float given) : divisor(given) {}
  [[nodiscard]] __device__ Narrow operator()(Narrow value, unsigned /*i*/) const {
    return Narrowing<Narrow>::of(to_float(value) / divisor);
  }
};
template <typename Narrow>
struct ShareOfMean : Stateless<ShareOfMean<Narrow>> {
  float workers;
  explicit PAYOFF_HD ShareOfMean(float given) : workers(given) {}
  [[nodiscard]] __device__ Narrow operator()(float value, unsigned /*i*/) const {
    return Narrowing<Narrow>::of(to_float(Narrowing<Narrow>::of(value)) / workers);
  }
};

constexpr float mean_workers = 6.0F;  // no power of two: the second rounding is one

template <typename Narrow>
Benchmark cast_mean(const Shape& shape, bool fused) {
  const Traffic traffic =
      fused ? streamed(shape.elements, 4, 2, 1) : streamed(shape.elements, 6, 4, 2);
  Benchmark b{point_of(Narrowing<Narrow>::name, "casts", fused ? "fused" : "framework_ops", shape,
                       {{"workers", mean_workers}}, traffic),
              bytes_of(6.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape, fused] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto out = array_of<Narrow>(n);
    return Work{[=](Stream s) {
                  if (fused) {
                    map<8>(s, in->data(), out->data(), n, ShareOfMean<Narrow>{mean_workers});
                  } else {
                    map<8>(s, in->data(), out->data(), n, ToNarrow<Narrow>{});
                    map<8>(s, out->data(), out->data(), n, DividedBy<Narrow>{mean_workers});
                  }
                },
                [=] {
                  return differs("cast", *out, each_value<Narrow>([](float value) {
                                   using To = Narrowing<Narrow>;
                                   return To::of(to_float(To::of(value)) / mean_workers);
                                 })(in->read()));
                },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> cast_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(one_cast<Bf16>("cast_bf16", "fused", shape, FloatToBf16{},
                                 each_value<Bf16>([](float v) { return to_bf16(v); })));
    all.push_back(one_cast<Half>("cast_fp16", "fused", shape, FloatToHalf{},
                                 each_value<Half>([](float v) { return to_half(v); })));
    all.push_back(from_bf16(shape));
    all.push_back(fp8_tensor(shape));
    all.push_back(fp8_by_operators(shape));
    all.push_back(fp8_decode(shape));
    all.push_back(fp8_decode_by_operators(shape));
    for (const bool fused : {true, false}) {
      all.push_back(cast_mean<Bf16>(shape, fused));
      all.push_back(cast_mean<Half>(shape, fused));
    }
  }
  return all;
}

}  // namespace payoff::kernels
