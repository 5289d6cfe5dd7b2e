// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "cli/sweep_results.hpp"

// Results by their values: `--where nodes=8 --where bandwidth='25 Gb/s'`.

namespace payoff {

inline constexpr OptionSpec where_option{"--where", "COLUMN=VALUE",
                                         "of results: only those with this value", Takes::values};

// The column that a word of the command line means; one that there is not is reported.
[[nodiscard]] std::optional<std::size_t> named_column(const SweepResults& results,
                                                      const Argument& word, Session& session);

// Of each result whether it has the values that every --where asks for; several values of one
// column are alternatives.
[[nodiscard]] std::vector<bool> read_choices(const SweepResults& results,
                                             const Arguments& arguments, Session& session);

}  // namespace payoff
