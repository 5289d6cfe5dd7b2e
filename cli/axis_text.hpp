// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units_text.hpp"
#include "profiles/source_map.hpp"

// The text of an axis: its values, and where each of them stands in it.

namespace payoff {

// Numbers are in SI and belong to a unit; names have neither.
struct AxisValues {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  std::string unit;  // of the column's name: "_seconds"
  bool whole{};      // counts
};

// A series (`8..64:x2`), or a list: of names that is no series, of numbers one that may be written
// without dots.
[[nodiscard]] std::optional<AxisValues> axis_values(std::string_view text, TextError& error);

// A part of a text.
struct TextPiece {
  std::size_t offset{};
  std::size_t length{};
};

// The commas of `topk:ratio=0.01,chunk=64` are the method's: a part with a value but no method of
// its own goes on with the one before it.
[[nodiscard]] std::vector<TextPiece> names_of(std::string_view text);

// Where so many values of the text stand, which itself stands at `whole`: each, or all at one place
// where series made more of them than were written.
[[nodiscard]] std::vector<Span> axis_places(std::string_view text, std::size_t values, Span whole);

}  // namespace payoff
