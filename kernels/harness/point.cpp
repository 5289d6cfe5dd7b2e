// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/point.hpp"

#include <array>
#include <charconv>

namespace payoff::kernels {

std::string text_of(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text += " " + name + "=" + std::string(digits.data(), end);
  }
  return text;
}

std::string title_of(const Point& point) {
  return point.kernel + " (" + point.implementation + ", " + point.input + ", " + point.state +
         ")" + text_of(point.parameters);
}

}  // namespace payoff::kernels
