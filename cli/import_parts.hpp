// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "profiles/import/finding.hpp"

// What the ways to import logs and traces have in common.

namespace payoff {

inline constexpr OptionSpec import_out_option{
    "-o", "FILE",
    "of `kineto`: the times of layers, for model.layer_times; of `nccl-log`, `flight-recorder`: "
    "the "
    "messages (.csv)",
    Takes::value, true};
inline constexpr OptionSpec import_steps_option{"--steps", "N",
                                                "of `nccl-log`, `flight-recorder`, `chakra`: how "
                                                "many steps it is of; counts and times are those "
                                                "of one"};

// Of a table; how many more there are is said.
inline constexpr std::size_t most_table_rows = 24;
// Below a table that would have so many rows: "... and 3 more nodes (--json has them all).";
// nothing where it has them.
[[nodiscard]] std::string left_out_rows(std::size_t rows, std::string_view what,
                                        std::string_view where = "--json");

[[nodiscard]] std::optional<int> import_steps(const Arguments& arguments, Session& session);
void report_import_finding(const Finding& finding, Session& session);
// What else is to be written, and under which name.
void write_import_result(const std::string& text, const nlohmann::ordered_json& json,
                         const std::optional<std::string>& csv, const Arguments& arguments,
                         Session& session);

}  // namespace payoff
