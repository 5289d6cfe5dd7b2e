// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/units.hpp"
#include "profiles/import/samples.hpp"

// What the columns of a table of samples mean (internal to its reader, csv_samples.cpp).

namespace payoff::import_detail {

struct ChoiceColumn {
  std::string_view column;
  std::string SamplesPoint::*field;
  std::span<const std::string_view> values;  // empty: any
};

struct TimeColumn {
  std::string_view name;
  Seconds unit;
};

// Of these names; otherwise null.
[[nodiscard]] const ChoiceColumn* choice_column(std::string_view column);
[[nodiscard]] const TimeColumn* time_column(std::string_view column);

// What a name is a slip of, where it would be a parameter; empty: of nothing. A time that lacks is
// told elsewhere.
[[nodiscard]] std::string_view meant_amount(std::string_view column, bool has_time);

// Whether a row that fills this column is a product of matrices.
[[nodiscard]] bool tells_product(std::string_view column);

// Bytes of complex numbers in double precision; the smallest product moves three numbers.
inline constexpr double widest_element = 16.0;

}  // namespace payoff::import_detail
