// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/compression.hpp"
#include "profiles/import/training_rows.hpp"
#include "study/row_compression.hpp"

// Part of row_compression: the parameters of a profile that a row states, and what such runs have
// where it leaves them open.

namespace payoff {

// What decides how much a method sends, where it is usual: the likely value, and two others.
struct UsualValues {
  double likely{};
  std::vector<double> others;
  std::string words;  // "ratio of 0.01, or of 0.001 or 0.1"
};
[[nodiscard]] std::optional<UsualValues> usual_values(const TrainingRow& row,
                                                      std::string_view parameter);

// A parameter by what rows call it, or by another field that says the same.
[[nodiscard]] std::optional<double> value_of(const TrainingRow& row, std::string_view parameter);

// Plans of one profile: the likely one first, then one for each other value of what is open. What
// was assumed, and what is missing, goes into `result`.
[[nodiscard]] std::vector<CompressionPlan> usual_plans(const TrainingRow& row, const Method& method,
                                                       RowPlan& result);

}  // namespace payoff
