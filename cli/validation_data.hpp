// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/command_line.hpp"
#include "profiles/library.hpp"

// Where the published measurements are that laws are fitted to and judged by.

namespace payoff {

inline constexpr OptionSpec data_option{
    "--data", "FOLDER", "published measurements; default: those that came with the program"};

// --data, or what belongs to the library: `validation` beside the installed profiles, or
// tests/validation of the source tree. Throws std::runtime_error when there is no split.csv.
[[nodiscard]] std::filesystem::path validation_data(const Arguments& arguments,
                                                    const Library& library);

}  // namespace payoff
