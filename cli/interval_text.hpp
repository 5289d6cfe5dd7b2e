// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "study/interval_set.hpp"

// Sets of intervals in words: "never", "always", "no difference", "up to 31 Gb/s", "4 to 12, from
// 40", "at 8, at 16, at 24, 57 ranges more, from 30928".

namespace payoff {

template <typename T, typename Print>
[[nodiscard]] std::string interval_text(const Interval<T>& interval, Print print) {
  if (interval.open_low) {
    return "up to " + print(interval.high);
  }
  if (interval.open_high) {
    return "from " + print(interval.low);
  }
  return interval.low == interval.high ? "at " + print(interval.low)
                                       : print(interval.low) + " to " + print(interval.high);
}

// Of many intervals the first ones, how many more there are, and the last one; the JSON results
// have them all.
template <typename T, typename Print>
[[nodiscard]] std::string interval_text(const IntervalSet<T>& set, Print print) {
  if (set.no_difference) {
    return "no difference";
  }
  if (set.never()) {
    return "never";
  }
  if (set.always()) {
    return "always";
  }
  constexpr std::size_t most = 5;
  constexpr std::size_t first = 3;
  const std::size_t count = set.intervals.size();
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += text.empty() ? "" : ", ";
    if (count > most && i == first) {
      text += std::to_string(count - first - 1) + " ranges more, ";
      i = count - 1;
    }
    text += interval_text(set.intervals[i], print);
  }
  return text;
}

}  // namespace payoff
