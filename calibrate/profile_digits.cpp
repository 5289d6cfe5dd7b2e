// SPDX-License-Identifier: Apache-2.0
#include "calibrate/profile_digits.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

namespace payoff {

std::string digits(double value, int count) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", count, value);
  return text.data();
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    text += (i > 0 ? ", " : "") + texts[i];
  }
  return text;
}

std::string joined(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const double number : numbers) {
    texts.push_back(digits(number));
  }
  return joined(texts);
}

}  // namespace payoff
