// SPDX-License-Identifier: Apache-2.0
#include "calibrate/profile_digits.hpp"

#include <array>
#include <cstdio>

namespace payoff {

std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace payoff
