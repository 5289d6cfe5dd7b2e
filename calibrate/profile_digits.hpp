// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace payoff {

// A number of a fitted profile, with four digits: more than a fit to printed times carries, and
// equal on every compiler.
[[nodiscard]] std::string digits(double value);

}  // namespace payoff
