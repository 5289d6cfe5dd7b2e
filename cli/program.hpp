// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/exit_code.hpp"

// The program without its main(): runs the command that the words name. `words[0]` is the program
// itself. Exceptions (the world) pass through.

namespace payoff {

[[nodiscard]] ExitCode run_program(std::span<const std::string> words,
                                   std::span<const Command> commands, Console& console);

}  // namespace payoff
