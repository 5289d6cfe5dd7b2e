// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// The experiment of a command: a file, or options alone, or a file with options over it. Every
// option stands for a key of the file (`--dp 32` for `layout.dp`), so that there is one reader and
// one set of checks; what is wrong points at the argument that said it.

namespace payoff {

// The options that name keys, and --set; in front of a command's own.
[[nodiscard]] std::vector<OptionSpec> experiment_options(std::vector<OptionSpec> own);

// The first positional is the file. Empty when something is wrong, which was reported.
[[nodiscard]] std::optional<ReadExperiment> read_experiment_input(const Arguments& arguments,
                                                                  const Library& library,
                                                                  Session& session);

}  // namespace payoff
