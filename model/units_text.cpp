// SPDX-License-Identifier: Apache-2.0
#include "model/units_text.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "model/decimal_text.hpp"
#include "model/unit_spelling.hpp"
#include "model/unit_tables.hpp"

namespace payoff {
namespace {

using detail::Dimension;
using detail::find_unit;
using detail::Unit;

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string backquoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// What is left of a text once the space around it is gone, and where it stood.
struct Trimmed {
  std::string_view text;
  std::size_t offset = 0;
};

Trimmed trim(std::string_view text) {
  std::size_t first = 0;
  while (first < text.size() && is_space(text[first])) {
    ++first;
  }
  std::size_t last = text.size();
  while (last > first && is_space(text[last - 1])) {
    --last;
  }
  return {text.substr(first, last - first), first};
}

// A number and what follows it.
struct Head {
  double number = 0.0;
  std::string_view digits;
  Trimmed rest;  // offset counted from the start of the whole text
};

std::string not_a_number_label(std::string_view text) {
  std::string lower(text.substr(0, 4));
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const std::size_t start = !lower.empty() && (lower[0] == '-' || lower[0] == '+') ? 1 : 0;
  const std::string_view word = std::string_view(lower).substr(start, 3);
  if (word == "inf" || word == "nan") {
    return "must be a finite number";
  }
  return text.empty() ? "nothing here" : "must start with a number";
}

Parsed<Head> parse_head(std::string_view text, std::string_view noun) {
  const Trimmed all = trim(text);
  const auto fail = [&](std::string problem, std::string label, std::size_t offset,
                        std::size_t length) {
    return Parsed<Head>::failure(
        {std::move(problem), std::move(label), {}, {}, all.offset + offset, length});
  };
  const std::size_t length = detail::decimal_length(all.text);
  if (length == 0) {
    return fail(all.text.empty() ? "is empty" : "is not " + std::string(noun),
                not_a_number_label(all.text), 0, all.text.size());
  }
  Head head;
  head.digits = all.text.substr(0, length);
  const detail::ReadDecimal read = detail::read_decimal(head.digits);
  head.number = read.number;
  if (!read.in_range) {
    return fail("is out of range", "does not fit a double-precision number", 0, length);
  }
  if (length + 1 < all.text.size() && (all.text[length] == ',' || all.text[length] == '_') &&
      detail::is_digit(all.text[length + 1])) {
    return fail("is not " + std::string(noun),
                "write `.` for the decimal point and no separators between digits", length, 1);
  }
  head.rest = trim(all.text.substr(length));
  head.rest.offset += all.offset + length;
  return Parsed<Head>::success(head);
}

TextError unit_error(const Head& head, const Dimension& dimension) {
  TextError error;
  const std::string number(head.digits);
  const std::string_view unit = head.rest.text;
  error.offset = head.rest.offset;
  error.length = unit.size();
  error.help = detail::list_of_units(dimension);
  const std::vector<std::string_view> meant = detail::meant_units(unit, dimension);
  for (const std::string_view candidate : meant) {
    error.label += (error.label.empty() ? "did you mean " : " or ") +
                   backquoted(number + " " + std::string(candidate));
  }
  error.example = number + " " + std::string(meant.empty() ? dimension.default_unit : meant[0]);
  for (const Dimension* other : detail::dimensions) {
    if (find_unit(*other, unit) != nullptr) {
      error.problem = "is " + std::string(other->noun) + ", not " + std::string(dimension.noun);
    }
  }
  if (error.problem.empty()) {
    error.problem = "has the unknown unit " + backquoted(unit);
  }
  if (!error.label.empty()) {
    error.label += "?";
  }
  return error;
}

// Somebody's number where people write such a one in this unit. Which unit 1000000000 is in is not
// known: a number of its own tells no wrong one.
std::string example_of(const Head& head, const Dimension& dimension) {
  const bool is_usual = head.number >= 1.0 && head.number < 1000.0;
  return (is_usual ? std::string(head.digits) : "5") + " " + std::string(dimension.default_unit);
}

Parsed<double> parse_in(const Dimension& dimension, std::string_view text, Sign sign) {
  using Result = Parsed<double>;
  const Parsed<Head> parsed = parse_head(text, dimension.noun);
  if (!parsed) {
    TextError error = parsed.error;
    error.example = "5 " + std::string(dimension.default_unit);
    return Result::failure(error);
  }
  const Head& head = *parsed;
  const Trimmed all = trim(text);
  const auto whole = [&](std::string problem, std::string label) {
    return Result::failure(
        {std::move(problem), std::move(label), {}, {}, all.offset, all.text.size()});
  };
  double si = 0.0;
  if (!head.rest.text.empty()) {
    const Unit* unit = find_unit(dimension, head.rest.text);
    if (unit == nullptr) {
      return Result::failure(unit_error(head, dimension));
    }
    si = head.number * unit->scale;
  } else if (head.number != 0.0) {
    Result error = whole("has no unit", "a bare number is ambiguous");
    error.error.example = example_of(head, dimension);
    return error;
  }
  if (!std::isfinite(si)) {
    return whole("is out of range", "too large");
  }
  if (sign != Sign::any && si < 0.0) {
    return whole("is negative",
                 sign == Sign::positive ? "must be above zero" : "must not be negative");
  }
  if (sign == Sign::positive && si <= 0.0) {
    return whole("is zero", "must be above zero");
  }
  return Result::success(si + 0.0);  // turns -0 into 0
}

template <class T, class Range>
Parsed<T> in_range(T value, Range range, Trimmed text, bool in_percent = false) {
  if (value >= range.min && value <= range.max) {
    return Parsed<T>::success(value);
  }
  const bool below = value < range.min;
  const auto number = static_cast<double>(below ? range.min : range.max);
  const std::string bound =
      in_percent ? number_text(100.0 * number, 15) + " %" : number_text(number, 15);
  return Parsed<T>::failure({below ? "is too small" : "is too large",
                             "must be at " + std::string(below ? "least " : "most ") + bound,
                             {},
                             {},
                             text.offset,
                             text.text.size()});
}

}  // namespace

template <class Q>
Parsed<Q> parse_quantity(std::string_view text, Sign sign) {
  const Parsed<double> si = parse_in(*detail::dimension_of<Q>, text, sign);
  return si ? Parsed<Q>::success(Q{*si}) : Parsed<Q>::failure(si.error);
}

template Parsed<Seconds> parse_quantity<Seconds>(std::string_view, Sign);
template Parsed<Bytes> parse_quantity<Bytes>(std::string_view, Sign);
template Parsed<Bandwidth> parse_quantity<Bandwidth>(std::string_view, Sign);
template Parsed<Flops> parse_quantity<Flops>(std::string_view, Sign);
template Parsed<FlopRate> parse_quantity<FlopRate>(std::string_view, Sign);
template Parsed<Watts> parse_quantity<Watts>(std::string_view, Sign);
template Parsed<Price> parse_quantity<Price>(std::string_view, Sign);

Parsed<double> parse_ratio(std::string_view text, NumberRange range) {
  const Parsed<Head> head = parse_head(text, "a ratio");
  if (!head) {
    return Parsed<double>::failure(head.error);
  }
  const Trimmed rest = (*head).rest;
  if (!rest.text.empty() && rest.text != "%") {
    return Parsed<double>::failure(
        {"is not a ratio", "a ratio has no unit but `%`", {}, {}, rest.offset, rest.text.size()});
  }
  const double value = rest.text.empty() ? (*head).number : (*head).number / 100.0;
  Parsed<double> result = in_range(value, range, trim(text), !rest.text.empty());
  if (!result && rest.text.empty() && value > range.max && value / 100.0 <= range.max) {
    result.error.example = std::string((*head).digits) + " %";
  }
  return result;
}

Parsed<double> parse_number(std::string_view text, NumberRange range) {
  const Parsed<Head> head = parse_head(text, "a number");
  if (!head) {
    return Parsed<double>::failure(head.error);
  }
  const Trimmed rest = (*head).rest;
  if (!rest.text.empty()) {
    return Parsed<double>::failure(
        {"is not a plain number", "takes no unit", {}, {}, rest.offset, rest.text.size()});
  }
  return in_range((*head).number, range, trim(text));
}

Parsed<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
  using Result = Parsed<std::int64_t>;
  const Trimmed all = trim(text);
  const auto fail = [&](std::string problem, std::string label) {
    return Result::failure(
        {std::move(problem), std::move(label), {}, {}, all.offset, all.text.size()});
  };
  const std::size_t start = !all.text.empty() && all.text[0] == '-' ? 1 : 0;
  if (all.text.size() == start || detail::digits_from(all.text, start) != all.text.size()) {
    return fail(all.text.empty() ? "is empty" : "is not a whole number", "decimal digits only");
  }
  if (all.text.size() > start + 1 && all.text[start] == '0') {
    return fail("starts with a zero", "write it without the leading zero");
  }
  std::int64_t value = 0;
  const auto [end, code] =
      std::from_chars(all.text.data(), all.text.data() + all.text.size(), value);
  if (code != std::errc{}) {
    return fail("is out of range", "does not fit 64 bits");
  }
  return in_range(value, range, all);
}

}  // namespace payoff
