// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/signs.hpp"
#include "kernels/device/platform.cuh"

// Signs as bits. A warp turns 32 values into a word by one vote and does 32 words, so that both the
// values read and the words written are neighbours.

namespace payoff::kernels {

inline constexpr std::size_t signs_per_warp = 1024;

// Packs what `value(i)` gives and lets `after(i)` do what follows for the same index.
template <typename Value>
__device__ void pack_warp(const Value& value, std::uint32_t* words, std::size_t count) {
  const std::size_t first = global_thread() / warp_lanes * signs_per_warp;
  const unsigned lane = warp_lane();
  std::uint32_t mine = 0;
  PAYOFF_UNROLL
  for (unsigned word = 0; word < warp_lanes; ++word) {
    const std::size_t index = first + word * warp_lanes + lane;
    const std::uint32_t votes =
        __ballot_sync(all_lanes, index < count && is_negative(value(index)));
    mine = lane == word ? votes : mine;
  }
  const std::size_t target = first / signs_per_word + lane;
  if (target < divided_up(count, signs_per_word)) {
    words[target] = mine;
  }
}

PAYOFF_KERNEL void pack_sign_bits(const float* in, std::uint32_t* words, std::size_t count) {
  pack_warp([in](std::size_t i) { return in[i]; }, words, count);
}

// The second pass of EF-signSGD: signs out, and what they leave behind. The scale is the mean of
// the magnitudes whose sum the first pass left.
PAYOFF_KERNEL void pack_with_residual(float* corrected, const float* magnitude_sum,
                                      std::uint32_t* words, float* scale_out, std::size_t count) {
  const float scale = *magnitude_sum / static_cast<float>(count);
  if (global_thread() == 0) {
    *scale_out = scale;
  }
  pack_warp(
      [corrected, scale](std::size_t i) {
        const float value = corrected[i];
        corrected[i] = sign_residual(value, scale);
        return value;
      },
      words, count);
}

PAYOFF_KERNEL void unpack_sign_bits(const std::uint32_t* words, const float* scale, float* out,
                                    std::size_t count) {
  constexpr int width = 8;
  const std::size_t first = global_thread() * width;
  if (first >= count) {
    return;
  }
  const std::uint32_t word = words[first / signs_per_word];
  const float size = *scale;
  if (first + width <= count) {
    Pack<float, width> values;
    for (int i = 0; i < width; ++i) {
      values.item[i] = signed_scale(word, first + static_cast<std::size_t>(i), size);
    }
    *reinterpret_cast<Pack<float, width>*>(out + first) = values;
  } else {
    for (std::size_t i = first; i < count; ++i) {
      out[i] = signed_scale(word, i, size);
    }
  }
}

PAYOFF_KERNEL void majority_words(const std::uint32_t* words, std::uint32_t workers,
                                  std::uint32_t* out, std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    out[i] = majority(words + i, count, workers);
  }
}

// Packs bytes of zero and one, as a framework does that has computed the comparison before.
PAYOFF_KERNEL void pack_byte_flags(const std::uint8_t* flags, std::uint32_t* words,
                                   std::size_t count) {
  pack_warp([flags](std::size_t i) { return flags[i] != 0 ? -1.0F : 1.0F; }, words, count);
}

// And back: a byte each, eight a thread.
PAYOFF_KERNEL void unpack_byte_flags(const std::uint32_t* words, std::uint8_t* flags,
                                     std::size_t count) {
  constexpr std::size_t width = 8;
  const std::size_t first = global_thread() * width;
  const std::size_t end = first + width < count ? first + width : count;
  for (std::size_t i = first; i < end; ++i) {
    flags[i] = static_cast<std::uint8_t>((words[i / signs_per_word] >> (i % signs_per_word)) & 1U);
  }
}

}  // namespace payoff::kernels
