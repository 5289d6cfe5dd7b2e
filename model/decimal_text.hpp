// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// Doubles as decimal text, rounded once and without a locale: <charconv>, and where the library has
// it for integers only (the one that the page is compiled with, which knows no other locale than C)
// what C offers, which rounds as exactly.

namespace payoff::detail {

using DecimalBuffer = std::array<char, 64>;

// d.ddd...e+xx with so many decimals; the text lies in `buffer`.
[[nodiscard]] std::string_view write_scientific(DecimalBuffer& buffer, double number, int decimals);
// The fewest digits that read back as the same number.
[[nodiscard]] std::string_view write_shortest(DecimalBuffer& buffer, double number);

// Of a text that is a number from end to end.
struct ReadDecimal {
  double number{};
  bool in_range{true};
};
[[nodiscard]] ReadDecimal read_decimal(std::string_view text);

}  // namespace payoff::detail
