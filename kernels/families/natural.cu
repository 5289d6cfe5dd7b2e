// SPDX-License-Identifier: Apache-2.0
// Natural compression and its decoding: fused, and as operators with every tensor in memory.
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/operators.cuh"
#include "kernels/reference/quantized.hpp"

namespace payoff::kernels {
namespace {

[[nodiscard]] RandomKey key_of(const Shape& shape) { return {shape.seed, 17}; }

Benchmark natural(const Shape& shape) {
  const Traffic traffic = streamed(shape.elements, 4, 1, 1);
  Benchmark b{point_of("natural", "casts", "fused", shape, {}, traffic),
              traffic.read + traffic.written,
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto codes = array_of<Byte>(n);
    return Work{
        [=](Stream s) { map<8>(s, in->data(), codes->data(), n, Naturally{key_of(shape)}); },
        [=] { return differs("codes", *codes, encode_natural(in->read(), key_of(shape))); },
        [=] { return checksum_of(*codes); }};
  };
  return b;
}

// out = natural(value, number): the random numbers lie in memory, as an operator before left them.
struct NaturalOfNumber {
  [[nodiscard]] __device__ Byte operator()(float value, float number) const {
    return encode_natural(value, static_cast<std::uint32_t>(number * 65536.0F));
  }
};

// Random numbers to memory, which read nothing; then value and number to a code.
Benchmark natural_by_operators(const Shape& shape) {
  Benchmark b{
      point_of("natural", "casts", "framework_ops", shape, {}, streamed(shape.elements, 8, 5, 2)),
      bytes_of(9.0 * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto numbers = array_of<float>(n);
    auto codes = array_of<Byte>(n);
    return Work{[=](Stream s) {
                  map<8>(s, in->data(), numbers->data(), n, UniformNumbers{key_of(shape)});
                  combine<4>(s, in->data(), numbers->data(), codes->data(), n, NaturalOfNumber{});
                },
                [=] { return differs("codes", *codes, encode_natural(in->read(), key_of(shape))); },
                [=] { return checksum_of(*codes); }};
  };
  return b;
}

// A power of two, or zero for the code zero; the sign is another operator's.
struct PowerOfCode : Stateless<PowerOfCode> {
  [[nodiscard]] __device__ float operator()(Byte code, unsigned /*i*/) const {
    return decode_natural(static_cast<Byte>(code & 0x7fU));
  }
};
struct SignOfCode : Stateless<SignOfCode> {
  [[nodiscard]] __device__ float operator()(Byte code, unsigned /*i*/) const {
    return (code & 0x80U) != 0U ? -1.0F : 1.0F;
  }
};

struct EncodedNaturally {
  Shared<float> in;
  Shared<Byte> codes;
  Shared<float> out;

  explicit EncodedNaturally(const Shape& shape)
      : in(drawn_on_device(shape)),
        codes(array_of<Byte>(shape.elements)),
        out(array_of<float>(shape.elements)) {
    map<8>(Stream{}, in->data(), codes->data(), shape.elements, Naturally{key_of(shape)});
    wait_for(Stream{});
  }

  [[nodiscard]] std::string mismatch(const Shape& shape) const {
    std::vector<float> expected;
    for (const Byte code : encode_natural(in->read(), key_of(shape))) {
      expected.push_back(decode_natural(code));
    }
    return differs("values", *out, expected);
  }
};

Benchmark natural_decode(const Shape& shape) {
  Benchmark b{
      point_of("natural_decode", "casts", "fused", shape, {}, streamed(shape.elements, 1, 4, 1)),
      bytes_of(9.0 * static_cast<double>(shape.elements)),
      {}};
  b.make = [shape] {
    const EncodedNaturally e(shape);
    return Work{[=](Stream s) {
                  map<8>(s, e.codes->data(), e.out->data(), shape.elements, NaturalToFloat{});
                },
                [=] { return e.mismatch(shape); }, [=] { return checksum_of(*e.out); }};
  };
  return b;
}

// The power, the sign, their product.
Benchmark natural_decode_by_operators(const Shape& shape) {
  Benchmark b{point_of("natural_decode", "casts", "framework_ops", shape, {},
                       streamed(shape.elements, 10, 12, 3)),
              bytes_of(17.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    const std::size_t n = shape.elements;
    const EncodedNaturally e(shape);
    auto power = array_of<float>(n);
    auto sign = array_of<float>(n);
    return Work{[=](Stream s) {
                  map<4>(s, e.codes->data(), power->data(), n, PowerOfCode{});
                  map<4>(s, e.codes->data(), sign->data(), n, SignOfCode{});
                  combine<4>(s, power->data(), sign->data(), e.out->data(), n, Product{});
                },
                [=] { return e.mismatch(shape); }, [=] { return checksum_of(*e.out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> natural_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Shape& shape : plan.shapes) {
    all.push_back(natural(shape));
    all.push_back(natural_by_operators(shape));
    all.push_back(natural_decode(shape));
    all.push_back(natural_decode_by_operators(shape));
  }
  return all;
}

}  // namespace payoff::kernels
