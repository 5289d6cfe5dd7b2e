// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/codec/group_quantize.hpp"
#include "kernels/device/platform.cuh"

// Eight neighbours a thread: their codes in a register, and what is written of their values.

namespace payoff::kernels {

inline constexpr unsigned pack_values = 8;

// Eight codes of `bits` bits in a register, the lowest bits first. Every index below is known when
// the loops are unrolled, tails included: an array with another index is one in local memory, whose
// traffic nobody counted.
template <unsigned bits>
struct CodePack {
  using Word = std::conditional_t<(bits * pack_values > 32), std::uint64_t, std::uint32_t>;
  using Bytes = Pack<std::uint8_t, bits>;
  Word word{};

  __device__ void put(unsigned i, std::uint32_t code) {
    word |= static_cast<Word>(code) << (i * bits);
  }
  [[nodiscard]] __device__ std::uint32_t code(unsigned i) const {
    return static_cast<std::uint32_t>(word >> (i * bits)) & top_code<bits>;
  }

  // `first` of `count` codes: a multiple of eight.
  __device__ void load(const std::uint8_t* codes, std::size_t first, std::size_t count) {
    const std::size_t begin = first * bits / 8;
    const std::size_t end = divided_up(count * bits, 8);
    if (begin + bits <= end) {
      const auto bytes = *reinterpret_cast<const Bytes*>(codes + begin);
      std::memcpy(&word, &bytes, bits);
      return;
    }
    PAYOFF_UNROLL_ALL
    for (unsigned byte = 0; byte < bits; ++byte) {
      if (begin + byte < end) {
        word |= static_cast<Word>(codes[begin + byte]) << (8 * byte);
      }
    }
  }
  __device__ void store(std::uint8_t* codes, std::size_t first, std::size_t count) const {
    const std::size_t begin = first * bits / 8;
    const std::size_t end = divided_up(count * bits, 8);
    if (begin + bits <= end) {
      Bytes bytes;
      std::memcpy(&bytes, &word, bits);
      *reinterpret_cast<Bytes*>(codes + begin) = bytes;
      return;
    }
    PAYOFF_UNROLL_ALL
    for (unsigned byte = 0; byte < bits; ++byte) {
      if (begin + byte < end) {
        codes[begin + byte] = static_cast<std::uint8_t>(word >> (8 * byte));
      }
    }
  }
};

// As much of eight values as there is room for.
__device__ inline void store_values(const Pack<float, pack_values>& values, float* out,
                                    std::size_t first, std::size_t count) {
  if (first + pack_values <= count) {
    *reinterpret_cast<Pack<float, pack_values>*>(out + first) = values;
    return;
  }
  PAYOFF_UNROLL_ALL
  for (unsigned i = 0; i < pack_values; ++i) {
    if (first + i < count) {
      out[first + i] = values.item[i];
    }
  }
}

}  // namespace payoff::kernels
