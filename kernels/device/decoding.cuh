// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/groups.cuh"

// Block formats back to floats: eight codes a thread, whose block has one factor.

namespace payoff::kernels {

// What a format's codes are worth: decode_minifloat<format>(code) * factor(block).
struct Fp8Blocks {
  static constexpr std::size_t block = fp8_block;
  static constexpr unsigned bits = 8;
  static constexpr Minifloat format = e4m3;
  const float* scales;
  [[nodiscard]] __device__ float factor(std::size_t number) const { return scales[number]; }
};

template <typename Format>
struct MxBlocks {
  static constexpr std::size_t block = mx_block;
  static constexpr unsigned bits = Format::bits;
  static constexpr Minifloat format = bits == 8 ? e4m3 : e2m1;
  const std::uint8_t* scales;
  [[nodiscard]] __device__ float factor(std::size_t number) const {
    return mx_factor(scales[number]);
  }
};

struct NvBlocks {
  static constexpr std::size_t block = nv_block;
  static constexpr unsigned bits = 4;
  static constexpr Minifloat format = e2m1;
  const std::uint8_t* scales;
  const std::uint32_t* largest_key;  // of the tensor, as its encoder found it
  [[nodiscard]] __device__ float factor(std::size_t number) const {
    return nv_factor(scales[number], nv_tensor_scale(float_of(*largest_key)));
  }
};

template <typename Blocks>
__global__ void decode_blocks(const std::uint8_t* codes, Blocks blocks, float* out,
                              std::size_t count) {
  const std::size_t first = global_thread() * pack_values;
  if (first >= count) {
    return;
  }
  CodePack<Blocks::bits> packed;
  packed.load(codes, first, count);
  const float factor = blocks.factor(first / Blocks::block);
  Pack<float, pack_values> values;
  PAYOFF_UNROLL_ALL
  for (unsigned i = 0; i < pack_values; ++i) {
    values.item[i] = decode_minifloat<Blocks::format>(packed.code(i)) * factor;
  }
  store_values(values, out, first, count);
}

// The factors to memory, as an operator on the tensor of scales leaves them.
template <typename Blocks>
__global__ void factors_of_blocks(Blocks blocks, float* factors, std::size_t blocks_count) {
  const std::size_t i = global_thread();
  if (i < blocks_count) {
    factors[i] = blocks.factor(i);
  }
}

}  // namespace payoff::kernels
