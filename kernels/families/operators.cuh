// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/groups.cuh"
#include "kernels/families/common.cuh"

// Operators on groups of values as a framework has them: each reads a tensor and writes one.

namespace payoff::kernels {

// Tensors between the operators of a chain.
struct Between {
  Shared<float> first;
  Shared<float> second;
  Shared<float> inverse;  // of the groups' scales
  Shared<Byte> bytes;     // codes before they are packed

  Between(std::size_t count, std::size_t groups)
      : first(array_of<float>(count)),
        second(array_of<float>(count)),
        inverse(array_of<float>(groups)),
        bytes(array_of<Byte>(count)) {}
};

// The scale of every group, and its reciprocal, from a tensor of magnitudes.
template <unsigned group>
__global__ void scales_of_groups(const float* magnitudes, float* scales, float* inverse, float top,
                                 std::size_t count) {
  GroupPart<group> part;
  part.load(magnitudes, count);
  const float scale = block_scale(part.largest(), top);
  if (part.leads(count)) {
    scales[part.number] = scale;
    inverse[part.number] = 1.0F / scale;
  }
}

// The factor of a value's group; a thread's neighbours lie in one group.
struct TimesGroupFactor {
  const float* factors;
  std::size_t group;
  float factor = 0.0F;
  [[nodiscard]] __device__ TimesGroupFactor at(std::size_t first) const {
    return {factors, group, factors[first / group]};
  }
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return value * factor;
  }
};

// The stored scale of every MX block from a tensor of magnitudes, and the factor that undoes it.
template <typename Format>
__global__ void mx_scales_of_groups(const float* magnitudes, std::uint8_t* scales, float* inverse,
                                    std::size_t count) {
  GroupPart<mx_block> part;
  part.load(magnitudes, count);
  const std::uint8_t scale = mx_scale(part.largest(), Format::largest_exponent);
  if (part.leads(count)) {
    scales[part.number] = scale;
    inverse[part.number] = mx_inverse(scale);
  }
}

// The same of NVFP4, whose blocks are scaled below the tensor's largest magnitude.
PAYOFF_KERNEL void nv_scales_of_groups(const float* magnitudes, const std::uint32_t* largest_key,
                                       std::uint8_t* scales, float* inverse, std::size_t count) {
  GroupPart<nv_block> part;
  part.load(magnitudes, count);
  const float tensor_scale = nv_tensor_scale(float_of(*largest_key));
  const std::uint8_t scale = nv_scale(part.largest(), tensor_scale);
  if (part.leads(count)) {
    scales[part.number] = scale;
    inverse[part.number] = nv_inverse(scale, tensor_scale);
  }
}

struct PlusConstant : Stateless<PlusConstant> {
  float constant;
  explicit PAYOFF_HD PlusConstant(float given) : constant(given) {}
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return value + constant;
  }
};

struct ByteToFloat : Stateless<ByteToFloat> {
  [[nodiscard]] __device__ float operator()(std::uint8_t code, unsigned /*i*/) const {
    return static_cast<float>(code);
  }
};

struct FloatToE2m1 : Stateless<FloatToE2m1> {
  [[nodiscard]] __device__ std::uint8_t operator()(float value, unsigned /*i*/) const {
    return static_cast<std::uint8_t>(encode_minifloat<e2m1>(value));
  }
};
template <Minifloat format>
struct CodeToFloat : Stateless<CodeToFloat<format>> {
  [[nodiscard]] __device__ float operator()(std::uint8_t code, unsigned /*i*/) const {
    return decode_minifloat<format>(code);
  }
};

// One for a zero bit, minus one for a set one.
struct FlagToSign : Stateless<FlagToSign> {
  [[nodiscard]] __device__ float operator()(std::uint8_t flag, unsigned /*i*/) const {
    return 1.0F - 2.0F * static_cast<float>(flag);
  }
};

struct Product {
  [[nodiscard]] __device__ float operator()(float a, float b) const { return a * b; }
};

// Codes of a byte each to `bits` bits, eight a thread.
template <unsigned bits>
__global__ void pack_codes(const std::uint8_t* codes, std::uint8_t* packed, std::size_t count) {
  const std::size_t first = global_thread() * pack_values;
  if (first >= count) {
    return;
  }
  CodePack<bits> word;
  PAYOFF_UNROLL_ALL
  for (unsigned i = 0; i < pack_values; ++i) {
    word.put(i, first + i < count ? codes[first + i] : 0U);
  }
  word.store(packed, first, count);
}

template <unsigned bits>
__global__ void unpack_codes(const std::uint8_t* packed, std::uint8_t* codes, std::size_t count) {
  const std::size_t first = global_thread() * pack_values;
  if (first >= count) {
    return;
  }
  CodePack<bits> word;
  word.load(packed, first, count);
  PAYOFF_UNROLL_ALL
  for (unsigned i = 0; i < pack_values; ++i) {
    if (first + i < count) {
      codes[first + i] = static_cast<std::uint8_t>(word.code(i));
    }
  }
}

}  // namespace payoff::kernels
