// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/hardware.hpp"
#include "model/units_text.hpp"

namespace payoff {

// A number of a fitted profile, with four digits: more than a fit to printed times carries, and
// equal on every compiler.
[[nodiscard]] std::string digits(double value);

// "{smallest: 4096 B, largest: 1 GiB}"
template <typename Amount>
[[nodiscard]] std::string range_text(const FitRange<Amount>& range) {
  return "{smallest: " + exact_text(range.smallest) + ", largest: " + exact_text(range.largest) +
         "}";
}

}  // namespace payoff
