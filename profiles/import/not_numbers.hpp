// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What programs write into JSON in place of a number that they have not got: NaN and Infinity,
// which no parser of JSON goes past (internal to the importers).

namespace payoff::import_detail {

struct NotNumber {
  std::size_t begin{};
  std::size_t length{};
};

// All of them outside of texts.
[[nodiscard]] std::vector<NotNumber> find_not_numbers(std::string_view text);

// The text with numbers of the same lengths in their places.
[[nodiscard]] std::string with_numbers(std::string_view text, const std::vector<NotNumber>& places);

}  // namespace payoff::import_detail
