// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

[[nodiscard]] std::optional<int> import_steps(const Arguments& arguments, Session& session);
void report_import_finding(const Finding& finding, Session& session);
// What else is to be written, and under which name.
void write_import_result(const std::string& text, const nlohmann::ordered_json& json,
                         const std::optional<std::string>& csv, const Arguments& arguments,
                         Session& session);

}  // namespace payoff
