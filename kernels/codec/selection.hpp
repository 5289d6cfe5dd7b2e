// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/counter_random.hpp"

// Which values a sparse message carries. Top-K by radix select on magnitudes, the most significant
// digit first (Alabi et al., "Fast k-selection algorithms for graphics processors", JEA 2012):
// three digits of 11, 11 and 9 bits narrow the k-th magnitude down to its bits. Chunked Top-K keeps
// the largest of each chunk. Random-K visits a permutation that sender and receiver share, so only
// values travel: a Feistel network over the next even power of two, walked until it falls inside
// (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).

namespace payoff::kernels {

inline constexpr int select_passes = 3;
inline constexpr std::uint32_t select_bins = 2048;

// The bits below a pass's digit: 20, 9 and 0 of the 31 bits of a magnitude.
[[nodiscard]] PAYOFF_HD constexpr unsigned digit_shift(int pass) {
  return pass == 0 ? 20U : (pass == 1 ? 9U : 0U);
}

[[nodiscard]] PAYOFF_HD constexpr std::uint32_t digit_mask(int pass) {
  return pass == 2 ? 0x1ffU : 0x7ffU;
}

[[nodiscard]] PAYOFF_HD inline std::uint32_t digit_of(std::uint32_t key, int pass) {
  return (key >> digit_shift(pass)) & digit_mask(pass);
}

// What is known of the k-th largest key after some passes.
struct Selection {
  std::uint32_t prefix{};     // its digits so far, the rest zero
  std::uint32_t remaining{};  // how many of the keys that share the prefix belong to the k
};

// -1 where a key is smaller than every candidate, 0 for a candidate, 1 where it is among the k.
[[nodiscard]] PAYOFF_HD inline int compare_with_prefix(std::uint32_t key, Selection selection,
                                                       int passes_done) {
  const unsigned shift = passes_done == 0 ? 31U : digit_shift(passes_done - 1);
  const std::uint32_t head = key >> shift;
  const std::uint32_t prefix = selection.prefix >> shift;
  return head < prefix ? -1 : (head > prefix ? 1 : 0);
}

// The digit of the k-th largest candidate, from the counts of candidates by digit.
[[nodiscard]] PAYOFF_HD inline Selection narrowed(Selection selection, const std::uint32_t* counts,
                                                  int pass) {
  std::uint32_t digit = digit_mask(pass);
  while (digit > 0 && counts[digit] < selection.remaining) {
    selection.remaining -= counts[digit];
    --digit;
  }
  selection.prefix |= digit << digit_shift(pass);
  return selection;
}

// A magnitude and its place in one number: larger magnitudes first, then earlier places.
[[nodiscard]] PAYOFF_HD inline std::uint64_t ranked(float value, std::uint32_t index) {
  return (static_cast<std::uint64_t>(magnitude_key(value)) << 32U) | (0xffffffffU - index);
}
[[nodiscard]] PAYOFF_HD inline std::uint32_t index_of(std::uint64_t rank) {
  return 0xffffffffU - static_cast<std::uint32_t>(rank);
}

[[nodiscard]] PAYOFF_HD inline std::uint32_t mixed(std::uint32_t word) {
  word ^= word >> 16U;
  word *= 0x7feb352dU;
  word ^= word >> 15U;
  word *= 0x846ca68bU;
  return word ^ (word >> 16U);
}

// A permutation of [0, count): position -> index.
class SharedPermutation {
 public:
  PAYOFF_HD SharedPermutation(std::uint32_t count, std::uint32_t seed)
      : count_(count), seed_(seed) {
    while (half_bits_ < 16U && (1ULL << (2U * half_bits_)) < count) {
      ++half_bits_;
    }
  }

  [[nodiscard]] PAYOFF_HD std::uint32_t operator()(std::uint32_t position) const {
    do {
      position = once(position);
    } while (position >= count_);
    return position;
  }

 private:
  [[nodiscard]] PAYOFF_HD std::uint32_t once(std::uint32_t value) const {
    const std::uint32_t mask = (1U << half_bits_) - 1U;
    std::uint32_t left = value >> half_bits_;
    std::uint32_t right = value & mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      const std::uint32_t next = left ^ (mixed(right ^ seed_ ^ (round * 0x9E3779B9U)) & mask);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

  std::uint32_t count_;
  std::uint32_t seed_;
  unsigned half_bits_ = 1;
};

}  // namespace payoff::kernels
