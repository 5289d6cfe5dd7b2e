// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/csv_columns.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "profiles/import/samples_rules.hpp"
#include "profiles/suggest.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::array<ChoiceColumn, 5> choices{{
    {"implementation", &SamplesPoint::implementation, implementation_choices},
    {"state", &SamplesPoint::state, state_choices},
    {"mode", &SamplesPoint::mode, mode_choices},
    {"input", &SamplesPoint::input, input_choices},
    {"family", &SamplesPoint::family, {}},
}};

constexpr std::array<TimeColumn, 4> time_columns{
    {{"time_ns", 1_ns}, {"time_us", 1_us}, {"time_ms", 1_ms}, {"time_s", 1_s}}};

// Numbers of a point that are no parameters, but for `bytes` where it is a width.
constexpr std::array<std::string_view, 7> amount_columns{
    "bytes", "read_bytes", "written_bytes", "flops", "random_accesses", "launches", "host_syncs"};

constexpr std::array<std::string_view, 4> product_columns{"flops", "m", "n", "k"};

}  // namespace

const ChoiceColumn* choice_column(std::string_view column) {
  const auto* found = std::find_if(choices.begin(), choices.end(),
                                   [&](const ChoiceColumn& each) { return each.column == column; });
  return found == choices.end() ? nullptr : found;
}

const TimeColumn* time_column(std::string_view column) {
  const auto* found = std::find_if(time_columns.begin(), time_columns.end(),
                                   [&](const TimeColumn& each) { return each.name == column; });
  return found == time_columns.end() ? nullptr : found;
}

std::string_view meant_amount(std::string_view column, bool has_time) {
  std::vector<std::string_view> known(amount_columns.begin(), amount_columns.end());
  for (const TimeColumn& time : time_columns) {
    if (has_time && column.starts_with("time")) {  // `tiles` is no slip
      known.push_back(time.name);
    }
  }
  const std::string_view nearest = closest(column, known);
  return nearest == column || counts_something(column) ? std::string_view() : nearest;
}

bool tells_product(std::string_view column) {
  return std::find(product_columns.begin(), product_columns.end(), column) != product_columns.end();
}

}  // namespace payoff::import_detail
