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

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Behind the digits that stand there.
[[nodiscard]] std::size_t digits_from(std::string_view text, std::size_t position);
// The length of the decimal number at the start of a text; 0 when there is none. "inf", "nan" and
// "0x1" are none, and `1EB` has no exponent.
[[nodiscard]] std::size_t decimal_length(std::string_view text);

// Of a text that is a decimal number from end to end.
struct ReadDecimal {
  double number{};
  bool in_range{true};
};
[[nodiscard]] ReadDecimal read_decimal(std::string_view text);

}  // namespace payoff::detail
