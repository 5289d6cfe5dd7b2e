// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/outputs.hpp"

#include <cmath>

namespace payoff::kernels {
namespace {

std::string sized_wrong(std::string_view what, std::size_t found, std::size_t expected) {
  return std::string(what) + ": " + std::to_string(found) + " instead of " +
         std::to_string(expected);
}

}  // namespace

std::string first_difference(std::string_view what, std::span<const std::uint8_t> found,
                             std::span<const std::uint8_t> expected) {
  if (found.size() != expected.size()) {
    return sized_wrong(what, found.size(), expected.size()) + " bytes";
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != expected[i]) {
      return std::string(what) + ": byte " + std::to_string(i) + " of " +
             std::to_string(found.size()) + " is " + hexadecimal(found[i], 2) + " instead of " +
             hexadecimal(expected[i], 2);
    }
  }
  return {};
}

std::string first_deviation(std::string_view what, std::span<const float> found,
                            std::span<const float> expected, float bound) {
  if (found.size() != expected.size()) {
    return sized_wrong(what, found.size(), expected.size()) + " values";
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!(std::abs(found[i] - expected[i]) <= bound)) {  // NaN deviates
      return std::string(what) + ": value " + std::to_string(i) + " of " +
             std::to_string(found.size()) + " is " + std::to_string(found[i]) + " instead of " +
             std::to_string(expected[i]) + ", more than " + std::to_string(bound) + " off";
    }
  }
  return {};
}

std::string hexadecimal(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = 0; i < digits; ++i) {
    text[digits - 1 - i] = "0123456789abcdef"[value % 16U];
    value /= 16U;
  }
  return text;
}

std::uint64_t fnv1a64(std::span<const std::uint8_t> bytes, std::uint64_t hash) {
  for (const std::uint8_t byte : bytes) {
    hash = (hash ^ byte) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace payoff::kernels
