// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

namespace payoff::sim {

// The same numbers on every compiler: the standard's engine, no distribution of its own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  // 0 .. end - 1
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(bits_() % end); }
  // low .. high
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + below(high - low + 1);
  }
  double unit() { return static_cast<double>(bits_() >> 11U) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

 private:
  std::mt19937_64 bits_;
};

}  // namespace payoff::sim
