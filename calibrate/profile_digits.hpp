// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/hardware.hpp"
#include "model/units_text.hpp"

namespace payoff {

// A number of a fitted profile. Four digits are more than a fit to printed times carries, three
// what one to step times can, and both are equal on every compiler.
[[nodiscard]] std::string digits(double value, int count = 4);

// With commas between them; of numbers four digits each.
[[nodiscard]] std::string joined(const std::vector<std::string>& texts);
[[nodiscard]] std::string joined(const std::vector<double>& numbers);

// "{smallest: 4096 B, largest: 1 GiB}"
template <typename Amount>
[[nodiscard]] std::string range_text(const FitRange<Amount>& range) {
  return "{smallest: " + exact_text(range.smallest) + ", largest: " + exact_text(range.largest) +
         "}";
}

}  // namespace payoff
