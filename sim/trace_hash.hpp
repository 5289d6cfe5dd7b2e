// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/sim_time.hpp"

// One number for a whole run: a hash in the manner of FNV-1a, a word at a time instead of a byte,
// over the date and the key of everything that happened, in order. Equal on every compiler.

namespace payoff::sim {

class TraceHash {
 public:
  constexpr void add(SimTime date, std::uint64_t key) {
    mix(static_cast<std::uint64_t>(date.picoseconds));
    mix(key);
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  constexpr void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 1099511628211ULL;
    state_ ^= state_ >> 32U;  // a product moves bits upwards only
  }

  std::uint64_t state_ = 14695981039346656037ULL;
};

}  // namespace payoff::sim
