// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014): the same numbers on every machine, from any seed.

namespace payoff {

class SplitMix {
 public:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio

  explicit constexpr SplitMix(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = state_ += step;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace payoff
