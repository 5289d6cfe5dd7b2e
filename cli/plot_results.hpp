// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"

// `payoff plot RESULTS`: pictures of what a sweep found, from its file alone.

namespace payoff {

// Whether a file, by its name or its first line, is one of `payoff sweep` and no experiment.
[[nodiscard]] bool holds_results(const std::string& file);

[[nodiscard]] ExitCode plot_results(const Arguments& arguments, Session& session);

}  // namespace payoff
