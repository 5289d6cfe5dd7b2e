// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

// Sorts what comes as a few ascending runs, in linear time for one or two of them: the natural
// merge sort of Knuth, The Art of Computer Programming 3, 5.2.4. What completes at one date was
// started in order at one date, or at a few.

namespace payoff::sim {

// `scratch` keeps its memory between calls; what it contains does not matter.
template <class Value>
void sort_runs(std::vector<Value>& values, std::vector<Value>& scratch) {
  for (;;) {
    auto middle = std::is_sorted_until(values.begin(), values.end());
    if (middle == values.end()) {
      return;
    }
    // One pass: every two neighbouring runs become one.
    scratch.clear();
    for (auto begin = values.begin(); begin != values.end();) {
      middle = std::is_sorted_until(begin, values.end());
      const auto end = std::is_sorted_until(middle, values.end());
      std::merge(begin, middle, middle, end, std::back_inserter(scratch));
      begin = end;
    }
    values.swap(scratch);
  }
}

}  // namespace payoff::sim
