// SPDX-License-Identifier: Apache-2.0
#include "model/decimal_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace payoff::detail {

std::size_t digits_from(std::string_view text, std::size_t position) {
  while (position < text.size() && is_digit(text[position])) {
    ++position;
  }
  return position;
}

std::size_t decimal_length(std::string_view text) {
  const std::size_t start = !text.empty() && text[0] == '-' ? 1 : 0;
  std::size_t end = digits_from(text, start);
  std::size_t digits = end - start;
  if (end < text.size() && text[end] == '.') {
    const std::size_t fraction_end = digits_from(text, end + 1);
    digits += fraction_end - end - 1;
    end = fraction_end;
  }
  if (digits == 0) {
    return 0;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) {
      ++exponent;
    }
    const std::size_t exponent_end = digits_from(text, exponent);
    if (exponent_end > exponent) {
      end = exponent_end;
    }
  }
  return end;
}

#if defined(__cpp_lib_to_chars)

std::string_view write_scientific(DecimalBuffer& buffer, double number, int decimals) {
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                         std::chars_format::scientific, decimals);
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

std::string_view write_shortest(DecimalBuffer& buffer, double number) {
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

ReadDecimal read_decimal(std::string_view text) {
  ReadDecimal read;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), read.number,
                                           std::chars_format::general);
  read.in_range = code != std::errc::result_out_of_range;
  return read;
}

#else

std::string_view write_scientific(DecimalBuffer& buffer, double number, int decimals) {
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*e", decimals, number);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string_view write_shortest(DecimalBuffer& buffer, double number) {
  int length = 0;
  for (int digits = 1; digits <= 17; ++digits) {
    length = std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, number);
    if (std::strtod(buffer.data(), nullptr) == number) {
      break;
    }
  }
  return {buffer.data(), static_cast<std::size_t>(length)};
}

ReadDecimal read_decimal(std::string_view text) {
  const double number = std::strtod(std::string(text).c_str(), nullptr);
  return {number, std::isfinite(number) || text.find("inf") != std::string_view::npos};
}

#endif

}  // namespace payoff::detail
