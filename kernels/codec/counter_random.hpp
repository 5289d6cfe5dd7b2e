// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// Random numbers from a counter: the same bits for the same (seed, stream, position) on host and
// device, in any order and without state. Philox4x32 of Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011, section 3.3; 7 rounds are the fewest that passed BigCrush there
// (table 2), 10 the authors' default. Stochastic rounding takes 16 of the bits: the probability of
// rounding up is then off by at most 2^-17, and one call serves eight values.

namespace payoff::kernels {

struct RandomWords {
  std::uint32_t word[4];
};

struct RandomKey {
  std::uint64_t seed{};
  std::uint64_t stream{};  // the step, or the tensor: counters of two streams never meet
};

template <int rounds>
[[nodiscard]] PAYOFF_HD inline RandomWords philox(RandomWords counter, std::uint32_t key0,
                                                  std::uint32_t key1) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53U;
  constexpr std::uint64_t multiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t weyl0 = 0x9E3779B9U;
  constexpr std::uint32_t weyl1 = 0xBB67AE85U;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = multiplier0 * counter.word[0];
    const std::uint64_t product1 = multiplier1 * counter.word[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32U) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32U) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(product0)}};
    key0 += weyl0;
    key1 += weyl1;
  }
  return counter;
}

// The four words at one position of a stream.
[[nodiscard]] PAYOFF_HD inline RandomWords random_words(RandomKey key, std::uint64_t position) {
  constexpr int fewest_rounds = 7;
  const RandomWords counter{
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32U),
       static_cast<std::uint32_t>(key.stream), static_cast<std::uint32_t>(key.stream >> 32U)}};
  return philox<fewest_rounds>(counter, static_cast<std::uint32_t>(key.seed),
                               static_cast<std::uint32_t>(key.seed >> 32U));
}

inline constexpr std::size_t halves_per_call = 8;

[[nodiscard]] PAYOFF_HD inline std::uint32_t half_of(const RandomWords& words, std::size_t half) {
  // Chosen and not indexed: an index that is known only at run time would put a GPU's words into
  // its local memory.
  const std::size_t pair = half % halves_per_call / 2;
  const std::uint32_t low = pair == 0 ? words.word[0] : words.word[1];
  const std::uint32_t high = pair == 2 ? words.word[2] : words.word[3];
  const std::uint32_t word = pair < 2 ? low : high;
  return half % 2 == 0 ? word & 0xffffU : word >> 16U;
}

// 16 random bits for the value at `index`; a kernel that treats eight neighbours calls
// random_words(index / 8) once instead.
[[nodiscard]] PAYOFF_HD inline std::uint32_t random_half(RandomKey key, std::size_t index) {
  return half_of(random_words(key, index / halves_per_call), index);
}

// Uniform in the open interval (0, 1), symmetric about one half.
[[nodiscard]] PAYOFF_HD inline float unit_interval(std::uint32_t half) {
  constexpr float step = 1.0F / 65536.0F;
  return (static_cast<float>(half) + 0.5F) * step;
}

}  // namespace payoff::kernels
