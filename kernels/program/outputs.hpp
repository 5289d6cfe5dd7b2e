// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/program/device_memory.hpp"

// Outputs of a benchmark against the host reference, byte for byte or within a bound, and their
// checksum.

namespace payoff::kernels {

// "codes: byte 12 of 4099 is 3f instead of 3e", or nothing where all are equal.
[[nodiscard]] std::string first_difference(std::string_view what,
                                           std::span<const std::uint8_t> found,
                                           std::span<const std::uint8_t> expected);
// The same for numbers that may differ by `bound`.
[[nodiscard]] std::string first_deviation(std::string_view what, std::span<const float> found,
                                          std::span<const float> expected, float bound);

// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t fnv1a64(std::span<const std::uint8_t> bytes,
                                    std::uint64_t hash = 0xcbf29ce484222325ULL);

// The last so many digits, zeros in front.
[[nodiscard]] std::string hexadecimal(std::uint64_t value, std::size_t digits);

template <typename T>
[[nodiscard]] std::span<const std::uint8_t> as_bytes(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
[[nodiscard]] std::string differs(std::string_view what, const DeviceArray<T>& found,
                                  const std::vector<T>& expected) {
  if (!found.guard_is_whole()) {
    return std::string(what) + ": written past its end";
  }
  const std::vector<T> values = found.read();
  return first_difference(what, as_bytes(values), as_bytes(expected));
}

template <typename T>
[[nodiscard]] std::string deviates(std::string_view what, const DeviceArray<T>& found,
                                   const std::vector<T>& expected, float bound) {
  if (!found.guard_is_whole()) {
    return std::string(what) + ": written past its end";
  }
  return first_deviation(what, found.read(), expected, bound);
}

// Of each the first values: all of a large one would take longer than measuring it.
inline constexpr std::size_t most_in_checksum = std::size_t{1} << 20U;

template <typename T, typename... More>
[[nodiscard]] std::uint64_t checksum_of(const DeviceArray<T>& array, const More&... more) {
  std::uint64_t hash = fnv1a64(as_bytes(array.read_first(most_in_checksum)));
  ((hash = fnv1a64(as_bytes(more.read_first(most_in_checksum)), hash)), ...);
  return hash;
}

// The first of several that says something.
template <typename... Text>
[[nodiscard]] std::string first_of(Text&&... texts) {
  std::string found;
  ((found.empty() ? static_cast<void>(found = texts) : static_cast<void>(0)), ...);
  return found;
}

}  // namespace payoff::kernels
