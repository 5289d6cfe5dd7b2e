// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

// What a method's formula may come to for one tensor, or one bucket. Each is beyond what any
// machine does in a step, and sums of them over all tensors that there can be are far from the end
// of the range of numbers.

namespace payoff {

struct FormulaLimit {
  double most{1e9};
  std::string_view unit{};
};

inline constexpr FormulaLimit most_bytes{1e18, " bytes"};
inline constexpr FormulaLimit most_operations{1e21, " operations"};
inline constexpr FormulaLimit most_seconds{1e6, " seconds"};  // of the host
inline constexpr FormulaLimit most_times{1e9, ""};            // kernels, or waits of the host

// For a tensor that nobody has asked check_method() or check_amounts() about, as a model that is
// scaled has: the nearest number that can be priced.
[[nodiscard]] inline double within(double value, const FormulaLimit& limit) {
  return value >= 0.0 ? std::min(value, limit.most) : 0.0;
}

}  // namespace payoff
