// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/units.hpp"

// The one parser and printer of numbers with units: `5 us`, `64 MiB`, `400 Gb/s`, `312 TFLOP/s`.
//
// Units are case-sensitive: `Gb` is 1e9 bits, `GB` 1e9 bytes, `GiB` 2^30 bytes. A number without a
// unit is refused, except 0. inf, nan, hexadecimal and what does not fit a double are refused. The
// printer writes SI units with three significant digits; `exact_text` writes the shortest text
// that reads back as the same number. Both are independent of the locale and of the compiler.

namespace payoff {

// Why a text was refused, in pieces from which a message with a caret can be put together.
// `problem` is a predicate ("has no unit") that follows the name of the field.
struct TextError {
  std::string problem;
  std::string label;       // what to say beside the caret; may be empty
  std::string help;        // what can be written instead; may be empty
  std::string example;     // a text that would be accepted; may be empty
  std::size_t offset = 0;  // the guilty part of the text
  std::size_t length = 0;
};

template <class T>
struct Parsed {
  std::optional<T> value;
  TextError error;  // says something only when there is no value

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }

  static Parsed success(T result) { return {std::move(result), {}}; }
  static Parsed failure(TextError reason) { return {std::nullopt, std::move(reason)}; }
};

enum class Sign { positive, non_negative, any };

struct NumberRange {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
};

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// For Seconds, Bytes, Bandwidth, Flops, FlopRate, Watts and Price.
template <class Q>
[[nodiscard]] Parsed<Q> parse_quantity(std::string_view text, Sign sign = Sign::non_negative);

// A share or a ratio: `0.01`, or the same as `1 %`.
[[nodiscard]] Parsed<double> parse_ratio(std::string_view text, NumberRange range = {0.0, 1.0});

// A number that has no unit by its nature.
[[nodiscard]] Parsed<double> parse_number(std::string_view text, NumberRange range = {});

// A count in decimal digits. `017` and `0x11` are refused: readers of YAML differ on them.
[[nodiscard]] Parsed<std::int64_t> parse_integer(std::string_view text, IntegerRange range = {});

// "1.83 ms", "12.3 GB", "312 TFLOP/s": the SI unit that leaves 1 to 999 before it.
[[nodiscard]] std::string to_text(Seconds time);
[[nodiscard]] std::string to_text(Bytes size);
[[nodiscard]] std::string to_text(Bandwidth bandwidth);  // in bytes: memory, busbw
[[nodiscard]] std::string to_text(Flops work);
[[nodiscard]] std::string to_text(FlopRate rate);
[[nodiscard]] std::string link_rate_text(Bandwidth bandwidth);  // in bits: "400 Gb/s"
[[nodiscard]] std::string percent_text(double ratio);           // "1.5 %"
[[nodiscard]] std::string number_text(double number, int significant_digits = 3);

// The shortest text that `parse_quantity` reads back as exactly this quantity: "64 MiB".
template <class Q>
[[nodiscard]] std::string exact_text(Q quantity);
[[nodiscard]] std::string exact_link_rate_text(Bandwidth bandwidth);  // in bits

extern template Parsed<Seconds> parse_quantity<Seconds>(std::string_view, Sign);
extern template Parsed<Bytes> parse_quantity<Bytes>(std::string_view, Sign);
extern template Parsed<Bandwidth> parse_quantity<Bandwidth>(std::string_view, Sign);
extern template Parsed<Flops> parse_quantity<Flops>(std::string_view, Sign);
extern template Parsed<FlopRate> parse_quantity<FlopRate>(std::string_view, Sign);
extern template Parsed<Watts> parse_quantity<Watts>(std::string_view, Sign);
extern template Parsed<Price> parse_quantity<Price>(std::string_view, Sign);
extern template std::string exact_text<Seconds>(Seconds);
extern template std::string exact_text<Bytes>(Bytes);
extern template std::string exact_text<Bandwidth>(Bandwidth);
extern template std::string exact_text<Flops>(Flops);
extern template std::string exact_text<FlopRate>(FlopRate);

}  // namespace payoff
