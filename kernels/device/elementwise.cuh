// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/block_scaling.hpp"
#include "kernels/codec/counter_random.hpp"
#include "kernels/codec/natural.hpp"
#include "kernels/codec/signs.hpp"
#include "kernels/device/platform.cuh"

// One value in, one value out. Every codec that needs nothing but the value itself is one of these;
// chains of them are what a framework runs when nobody has fused anything.

namespace payoff::kernels {

// out[first + i] = local(in[first + i], i), `width` neighbours a thread; `local` is what
// op.at(first) gives once a thread: what its neighbours share, as random numbers do, is found
// there.
template <unsigned width, typename In, typename Out, typename Op>
__global__ void map_values(const In* in, Out* out, std::size_t count, Op op) {
  const std::size_t first = global_thread() * width;
  if (first + width <= count) {
    const auto values = *reinterpret_cast<const Pack<In, width>*>(in + first);
    Pack<Out, width> results;
    auto local = op.at(first);
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < width; ++i) {
      results.item[i] = local(values.item[i], i);
    }
    *reinterpret_cast<Pack<Out, width>*>(out + first) = results;
  } else {
    auto local = op.at(first);
    for (std::size_t i = first; i < count; ++i) {
      out[i] = local(in[i], static_cast<unsigned>(i - first));
    }
  }
}

// out[i] = op(a[i], b[i]).
template <unsigned width, typename A, typename B, typename Out, typename Op>
__global__ void combine_values(const A* a, const B* b, Out* out, std::size_t count, Op op) {
  const std::size_t first = global_thread() * width;
  if (first + width <= count) {
    const auto left = *reinterpret_cast<const Pack<A, width>*>(a + first);
    const auto right = *reinterpret_cast<const Pack<B, width>*>(b + first);
    Pack<Out, width> results;
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < width; ++i) {
      results.item[i] = op(left.item[i], right.item[i]);
    }
    *reinterpret_cast<Pack<Out, width>*>(out + first) = results;
  } else {
    for (std::size_t i = first; i < count; ++i) {
      out[i] = op(a[i], b[i]);
    }
  }
}

// An operation without state: at() gives itself.
template <typename Self>
struct Stateless {
  [[nodiscard]] __device__ Self at(std::size_t /*first*/) const {
    return static_cast<const Self&>(*this);
  }
};

struct Same : Stateless<Same> {
  template <typename T>
  [[nodiscard]] __device__ T operator()(T value, unsigned /*i*/) const {
    return value;
  }
};
struct FloatToBf16 : Stateless<FloatToBf16> {
  [[nodiscard]] __device__ Bf16 operator()(float value, unsigned /*i*/) const {
    return to_bf16(value);
  }
};
struct Bf16ToFloat : Stateless<Bf16ToFloat> {
  [[nodiscard]] __device__ float operator()(Bf16 value, unsigned /*i*/) const {
    return to_float(value);
  }
};
struct FloatToHalf : Stateless<FloatToHalf> {
  [[nodiscard]] __device__ Half operator()(float value, unsigned /*i*/) const {
    return to_half(value);
  }
};

// The scale lies in device memory, as the reduction before left it: the largest magnitude's bits.
struct FloatToFp8 {
  const std::uint32_t* largest_key;
  float inverse = 0.0F;
  [[nodiscard]] __device__ FloatToFp8 at(std::size_t /*first*/) const {
    return {largest_key, 1.0F / block_scale(float_of(*largest_key), e4m3_top)};
  }
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return encode_fp8(value, inverse);
  }
};
struct Fp8ToFloat {
  const std::uint32_t* largest_key;
  float scale = 0.0F;
  [[nodiscard]] __device__ Fp8ToFloat at(std::size_t /*first*/) const {
    return {largest_key, block_scale(float_of(*largest_key), e4m3_top)};
  }
  [[nodiscard]] __device__ float operator()(std::uint8_t code, unsigned /*i*/) const {
    return decode_fp8(code, scale);
  }
};

// One call of the generator for each eight neighbours: `width` is 8, or divides 8.
template <typename OfHalf>
struct WithRandomHalves {
  RandomKey key;
  RandomWords words{};
  std::size_t first{};
  [[nodiscard]] __device__ WithRandomHalves at(std::size_t index) const {
    return {key, random_words(key, index / halves_per_call), index};
  }
  [[nodiscard]] __device__ auto operator()(float value, unsigned i) const {
    return OfHalf{}(value, half_of(words, first + i));
  }
};

struct NaturalOfHalf {
  [[nodiscard]] __device__ std::uint8_t operator()(float value, std::uint32_t half) const {
    return encode_natural(value, half);
  }
};
using Naturally = WithRandomHalves<NaturalOfHalf>;
struct NaturalToFloat : Stateless<NaturalToFloat> {
  [[nodiscard]] __device__ float operator()(std::uint8_t code, unsigned /*i*/) const {
    return decode_natural(code);
  }
};

// Single arithmetic operations, as a framework's operators are.
struct Magnitude : Stateless<Magnitude> {
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return magnitude(value);
  }
};
struct TimesScalar {
  const float* scalar;
  float factor = 0.0F;
  [[nodiscard]] __device__ TimesScalar at(std::size_t /*first*/) const { return {scalar, *scalar}; }
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return value * factor;
  }
};
struct Clamp : Stateless<Clamp> {
  float low;
  float high;
  PAYOFF_HD Clamp(float low_end, float high_end) : low(low_end), high(high_end) {}
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return clamped(value, low, high);
  }
};
struct FloatToE4m3 : Stateless<FloatToE4m3> {
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return static_cast<std::uint8_t>(encode_minifloat<e4m3>(value));
  }
};
struct IsNegative : Stateless<IsNegative> {
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return is_negative(value) ? 1 : 0;
  }
};
struct FloatToByte : Stateless<FloatToByte> {
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return static_cast<std::uint8_t>(value);
  }
};
// A tensor of uniform numbers, written to memory because the next operator reads it there. The
// values that it gets are not used, and no compiler loads them.
struct UniformOfHalf {
  [[nodiscard]] __device__ float operator()(float /*value*/, std::uint32_t half) const {
    return unit_interval(half);
  }
};
using UniformNumbers = WithRandomHalves<UniformOfHalf>;

struct Sum {
  [[nodiscard]] __device__ float operator()(float a, float b) const { return a + b; }
};
struct Difference {
  [[nodiscard]] __device__ float operator()(float a, float b) const { return a - b; }
};

}  // namespace payoff::kernels
