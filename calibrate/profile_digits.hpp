// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace payoff {

// A number of a fitted profile. Four digits are more than a fit to printed times carries, three
// what one to step times can, and both are equal on every compiler.
[[nodiscard]] std::string digits(double value, int count = 4);

// With commas between them; of numbers four digits each.
[[nodiscard]] std::string joined(const std::vector<std::string>& texts);
[[nodiscard]] std::string joined(const std::vector<double>& numbers);

}  // namespace payoff
