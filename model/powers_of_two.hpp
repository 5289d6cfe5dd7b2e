// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

// Depths of trees over a number of ranks.

namespace payoff {

// The largest power that is not above n is 2 to this; 0 where n is 1 or less.
[[nodiscard]] constexpr int log2_floor(int n) {
  return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}

// The smallest power that is not below n is 2 to this.
[[nodiscard]] constexpr int log2_ceiling(int n) { return n <= 1 ? 0 : log2_floor(n - 1) + 1; }

}  // namespace payoff
