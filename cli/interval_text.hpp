// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/interval_set.hpp"

// Sets of intervals in words: "never", "always", "no difference", "up to 31 Gb/s", "from 4 to 12,
// 40 and more".

namespace payoff {

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
  std::string text;
  for (const Interval<T>& interval : set.intervals) {
    text += text.empty() ? "" : ", ";
    if (interval.open_low) {
      text += "up to " + print(interval.high);
    } else if (interval.open_high) {
      text += "from " + print(interval.low);
    } else if (interval.low == interval.high) {
      text += "at " + print(interval.low);
    } else {
      text += print(interval.low) + " to " + print(interval.high);
    }
  }
  return text;
}

}  // namespace payoff
