// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"

namespace payoff {

// `payoff calibrate diff A B`: two profiles of GPUs, files or names, value by value.
[[nodiscard]] ExitCode calibrate_diff(const Arguments& arguments, Session& session);

}  // namespace payoff
