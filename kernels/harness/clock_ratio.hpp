// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

// How fast the multiprocessors ran between two moments, from their own counters of cycles and the
// clock that all of them share.

namespace payoff::kernels {

struct ClockStamp {
  unsigned taken;  // 0: no block came to this multiprocessor, which others may have filled
  long long cycles;
  unsigned long long time;  // ns
};

// Cycles over time as a share of the clock to expect, one stamp a multiprocessor at each moment:
// the median of those that have both. 1 where none has, or the time is too short for the timer.
[[nodiscard]] double clock_ratio_of(std::span<const ClockStamp> before,
                                    std::span<const ClockStamp> after, double expected_hz);

}  // namespace payoff::kernels
