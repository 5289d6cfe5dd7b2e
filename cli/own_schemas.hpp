// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

// Schemas of what no reader of one document describes: the grid of a survey, which is an experiment
// with axes, and results.

namespace payoff {

inline constexpr std::string_view survey_kind = "survey";
inline constexpr std::string_view result_kind = "result";
inline constexpr std::array<std::string_view, 2> own_kinds{survey_kind, result_kind};

// From that of experiments.
[[nodiscard]] std::string survey_schema(const std::string& experiment_schema);

// Of every `--json`: docs/schema/result.schema.json as it was when the program was built.
[[nodiscard]] std::string_view result_schema_text();

}  // namespace payoff
