// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

// Schemas of what no reader of one document describes: the grid of a survey, which is an experiment
// with axes, results, samples of measurements, and the fitted laws that profiles take parts of.

namespace payoff {

inline constexpr std::string_view survey_kind = "survey";
inline constexpr std::string_view results_kind = "result";
inline constexpr std::string_view samples_kind = "samples";
inline constexpr std::string_view fitted_kind = "fitted";
inline constexpr std::array<std::string_view, 4> own_kinds{survey_kind, results_kind, samples_kind,
                                                           fitted_kind};

// From that of experiments.
[[nodiscard]] std::string survey_schema(const std::string& experiment_schema);

// docs/schema/KIND.schema.json as it was when the program was built, of what is kept by hand there:
// of every `--json`, of samples and of fitted laws. Empty for other kinds.
[[nodiscard]] std::string_view kept_schema(std::string_view kind);

}  // namespace payoff
