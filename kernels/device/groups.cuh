// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/block_scaling.hpp"
#include "kernels/codec/counter_random.hpp"
#include "kernels/codec/group_quantize.hpp"
#include "kernels/device/code_pack.cuh"
#include "kernels/device/platform.cuh"

// Codecs that scale groups of values. A group lies in the registers of a few neighbouring lanes,
// eight values a pack, so a tensor is read once and its codes are written once; the largest
// magnitude is exchanged by shuffles. Whatever the order, a maximum is the host's.

namespace payoff::kernels {

template <unsigned group>
struct GroupLayout {
  static constexpr unsigned lanes = group / pack_values < 32 ? group / pack_values : 32;
  static constexpr unsigned packs = group / (pack_values * lanes);
};

// The values of one group that one lane holds.
template <unsigned group>
struct GroupPart {
  using Layout = GroupLayout<group>;
  float value[Layout::packs][pack_values];
  std::size_t number;  // of the group

  [[nodiscard]] __device__ std::size_t first(unsigned pack) const {
    const std::size_t lane = threadIdx.x % Layout::lanes;
    return number * group + (static_cast<std::size_t>(pack) * Layout::lanes + lane) * pack_values;
  }

  // Past the end there are zeros: they never are the largest magnitude.
  template <typename T>
  __device__ void load(const T* in, std::size_t count) {
    number = global_thread() / Layout::lanes;
    PAYOFF_UNROLL_ALL
    for (unsigned pack = 0; pack < Layout::packs; ++pack) {
      const std::size_t begin = first(pack);
      if (begin + pack_values <= count) {
        const auto values = *reinterpret_cast<const Pack<T, pack_values>*>(in + begin);
        PAYOFF_UNROLL_ALL
        for (unsigned i = 0; i < pack_values; ++i) {
          value[pack][i] = to_float(values.item[i]);
        }
      } else {
        PAYOFF_UNROLL_ALL
        for (unsigned i = 0; i < pack_values; ++i) {
          const std::size_t index = begin + i;
          value[pack][i] = index < count ? to_float(in[index]) : 0.0F;
        }
      }
    }
  }

  [[nodiscard]] __device__ float largest() const {
    float top = 0.0F;
    PAYOFF_UNROLL_ALL
    for (unsigned pack = 0; pack < Layout::packs; ++pack) {
      PAYOFF_UNROLL_ALL
      for (unsigned i = 0; i < pack_values; ++i) {
        top = larger(top, magnitude(value[pack][i]));
      }
    }
    return largest_of_lanes(top, Layout::lanes);
  }

  [[nodiscard]] __device__ bool leads(std::size_t count) const {
    return threadIdx.x % Layout::lanes == 0 && number * group < count;
  }

  // Codes of `bits` bits, and past the end zeros.
  template <unsigned bits, typename Encode>
  __device__ void store(std::uint8_t* codes, std::size_t count, const Encode& encode) const {
    PAYOFF_UNROLL_ALL
    for (unsigned pack = 0; pack < Layout::packs; ++pack) {
      const std::size_t begin = first(pack);
      CodePack<bits> packed;
      PAYOFF_UNROLL_ALL
      for (unsigned i = 0; i < pack_values; ++i) {
        packed.put(i, begin + i < count ? encode(value[pack][i], pack, i) : 0U);
      }
      packed.store(codes, begin, count);
    }
  }
};

template <typename T>
__global__ void fp8_blocks(const T* in, std::uint8_t* codes, float* scales, std::size_t count) {
  GroupPart<fp8_block> part;
  part.load(in, count);
  const float scale = block_scale(part.largest(), e4m3_top);
  const float inverse = 1.0F / scale;
  part.template store<8>(codes, count, [inverse](float value, unsigned, unsigned) {
    return encode_fp8(value, inverse);
  });
  if (part.leads(count)) {
    scales[part.number] = scale;
  }
}

// Mxfp8 or Mxfp4.
template <typename Format, typename T>
__global__ void mx_blocks(const T* in, std::uint8_t* codes, std::uint8_t* scales,
                          std::size_t count) {
  GroupPart<mx_block> part;
  part.load(in, count);
  const std::uint8_t scale = mx_scale(part.largest(), Format::largest_exponent);
  part.template store<Format::bits>(codes, count, [scale](float value, unsigned, unsigned) {
    return Format::encode(value, scale);
  });
  if (part.leads(count)) {
    scales[part.number] = scale;
  }
}

// The tensor's largest magnitude comes from a reduction before.
template <typename T>
__global__ void nvfp4_blocks(const T* in, std::uint8_t* codes, std::uint8_t* scales,
                             const std::uint32_t* largest_key, std::size_t count) {
  GroupPart<nv_block> part;
  part.load(in, count);
  const float tensor_scale = nv_tensor_scale(float_of(*largest_key));
  const std::uint8_t scale = nv_scale(part.largest(), tensor_scale);
  const float inverse = nv_inverse(scale, tensor_scale);
  part.template store<4>(codes, count, [inverse](float value, unsigned, unsigned) {
    return encode_nvfp4(value, inverse);
  });
  if (part.leads(count)) {
    scales[part.number] = scale;
  }
}

template <unsigned group, unsigned bits, bool stochastic>
__device__ void store_quantized(const GroupPart<group>& part, std::uint8_t* codes, float* steps,
                                std::size_t count, RandomKey key) {
  const float step = symmetric_step<bits>(part.largest());
  const float inverse = 1.0F / step;
  RandomWords words{};
  part.template store<bits>(codes, count, [&](float value, unsigned pack, unsigned i) {
    if constexpr (stochastic) {
      if (i == 0) {
        words = random_words(key, part.first(pack) / halves_per_call);
      }
    }
    const float offset = stochastic ? unit_interval(half_of(words, i)) : 0.5F;
    return quantize_symmetric<bits>(value, inverse, offset);
  });
  if (part.leads(count)) {
    steps[part.number] = step;
  }
}

template <unsigned group, unsigned bits, bool stochastic, typename T>
__global__ void quantize_group_values(const T* in, std::uint8_t* codes, float* steps,
                                      std::size_t count, RandomKey key) {
  GroupPart<group> part;
  part.load(in, count);
  store_quantized<group, bits, stochastic>(part, codes, steps, count, key);
}

template <unsigned group, unsigned bits>
__global__ void dequantize_group_values(const std::uint8_t* codes, const float* steps, float* out,
                                        std::size_t count) {
  const std::size_t first = global_thread() * pack_values;
  if (first >= count) {
    return;
  }
  CodePack<bits> packed;
  packed.load(codes, first, count);
  const float step = steps[first / group];
  Pack<float, pack_values> values;
  PAYOFF_UNROLL_ALL
  for (unsigned i = 0; i < pack_values; ++i) {
    values.item[i] = dequantize_symmetric<bits>(packed.code(i), step);
  }
  store_values(values, out, first, count);
}

// Adds up `workers` messages, each `code_stride` bytes and `step_stride` scales after the one
// before, and quantises the sum: one kernel, nothing but codes in memory.
template <unsigned group, unsigned bits, bool stochastic>
__global__ void reduce_group_values(const std::uint8_t* codes, const float* steps,
                                    std::size_t code_stride, std::size_t step_stride,
                                    unsigned workers, std::uint8_t* out, float* out_steps,
                                    std::size_t count, RandomKey key) {
  GroupPart<group> part{};
  part.number = global_thread() / GroupLayout<group>::lanes;
  for (unsigned worker = 0; worker < workers && part.number * group < count; ++worker) {
    const std::size_t w = worker;
    const float step = steps[w * step_stride + part.number];
    PAYOFF_UNROLL_ALL
    for (unsigned pack = 0; pack < GroupLayout<group>::packs; ++pack) {
      if (part.first(pack) < count) {
        CodePack<bits> packed;
        packed.load(codes + w * code_stride, part.first(pack), count);
        PAYOFF_UNROLL_ALL
        for (unsigned i = 0; i < pack_values; ++i) {
          part.value[pack][i] += dequantize_symmetric<bits>(packed.code(i), step);
        }
      }
    }
  }
  // Past the end the codes are zero, which is not the value zero.
  PAYOFF_UNROLL_ALL
  for (unsigned pack = 0; pack < GroupLayout<group>::packs; ++pack) {
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < pack_values; ++i) {
      if (part.first(pack) + i >= count) {
        part.value[pack][i] = 0.0F;
      }
    }
  }
  store_quantized<group, bits, stochastic>(part, out, out_steps, count, key);
}

}  // namespace payoff::kernels
