// SPDX-License-Identifier: Apache-2.0
#include "cli/axis_text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "model/series_text.hpp"

namespace payoff {
namespace {

// Between commas, without the spaces around.
std::vector<TextPiece> pieces_of(std::string_view text) {
  std::vector<TextPiece> pieces;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::size_t first = start;
    std::size_t end = comma;
    while (first < end && text[first] == ' ') {
      ++first;
    }
    while (end > first && text[end - 1] == ' ') {
      --end;
    }
    pieces.push_back({first, end - first});
    start = comma + 1;
  }
  return pieces;
}

template <class T, class Text, class Number>
bool take_series(std::string_view text, AxisValues& values, TextError& error, Text text_of,
                 Number number_of) {
  const Parsed<std::vector<T>> parsed = parse_series<T>(text);
  if (!parsed) {
    // The reading that understood most of the text has the best explanation; the one that knows the
    // unit of its end has understood all but one.
    const bool exact = error.problem == one_sided_unit;
    if (error.problem.empty() || parsed.error.problem == one_sided_unit ||
        (!exact && parsed.error.offset > error.offset)) {
      error = parsed.error;
    }
    return false;
  }
  for (const T& value : *parsed) {
    values.texts.push_back(text_of(value));
    values.numbers.push_back(number_of(value));
  }
  return true;
}

// A series of counts, shares or quantities.
std::optional<AxisValues> axis_series(std::string_view text, TextError& error) {
  AxisValues values;
  const auto si = [](auto quantity) { return quantity.si; };
  const auto plain = [](auto number) { return static_cast<double>(number); };
  if (take_series<std::int64_t>(
          text, values, error, [](std::int64_t n) { return std::to_string(n); }, plain)) {
    values.whole = true;
  } else if (take_series<Bandwidth>(text, values, error, exact_link_rate_text, si)) {
    values.unit = "_bytes_per_second";
  } else if (take_series<Bytes>(text, values, error, exact_text<Bytes>, si)) {
    values.unit = "_bytes";
  } else if (take_series<Seconds>(text, values, error, exact_text<Seconds>, si)) {
    values.unit = "_seconds";
  } else if (!take_series<double>(
                 text, values, error, [](double x) { return fmt::format("{}", x); }, plain)) {
    return std::nullopt;
  }
  return values;
}

}  // namespace

std::vector<TextPiece> names_of(std::string_view text) {
  std::vector<TextPiece> names;
  for (const TextPiece& piece : pieces_of(text)) {
    const std::string_view part = text.substr(piece.offset, piece.length);
    const bool goes_on =
        part.find('=') != std::string_view::npos && part.find(':') == std::string_view::npos;
    if (goes_on && !names.empty()) {
      names.back().length = piece.offset + piece.length - names.back().offset;
    } else {
      names.push_back(piece);
    }
  }
  return names;
}

std::optional<AxisValues> axis_values(std::string_view text, TextError& error) {
  std::optional<AxisValues> series = axis_series(text, error);
  if (series || text.find("..") != std::string_view::npos) {
    return series;
  }
  AxisValues values;
  for (const TextPiece& name : names_of(text)) {
    values.texts.emplace_back(text.substr(name.offset, name.length));
  }
  return values;
}

std::vector<Span> axis_places(std::string_view text, std::size_t values, Span whole) {
  for (const std::vector<TextPiece>& pieces : {pieces_of(text), names_of(text)}) {
    if (pieces.size() == values) {
      std::vector<Span> places;
      places.reserve(values);
      for (const TextPiece& piece : pieces) {
        places.push_back({whole.source, whole.offset + piece.offset, piece.length});
      }
      return places;
    }
  }
  return {whole};
}

}  // namespace payoff
