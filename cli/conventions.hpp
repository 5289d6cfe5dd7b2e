// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "cli/exit_code.hpp"

// What holds for every command, as the help and the manual page tell it.

namespace payoff {

inline constexpr std::array<std::pair<ExitCode, std::string_view>, 4> exit_meanings{{
    {ExitCode::success, "an answer, also one that compression does not pay"},
    {ExitCode::failure, "something could not be read, written or run"},
    {ExitCode::bad_input,
     "a mistake in the input; all of them are listed, and nothing was written"},
    {ExitCode::check_failed, "a check that was asked for failed"},
}};

inline constexpr std::string_view streams_text =
    "Results go to standard output; mistakes, notes and progress to standard error, in colour and\n"
    "with progress on a terminal only. NO_COLOR, set to anything, turns colours off.\n";

inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> variables{{
    {"NO_COLOR", "set to anything: no colours"},
    {"PAYOFF_PROFILES", "the folder of profiles, instead of the one that came with the program"},
    {"PAYOFF_PAGE", "the page that `payoff report` fills, instead of the one that came with it"},
}};

}  // namespace payoff
