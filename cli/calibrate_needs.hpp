// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"

// payoff calibrate needs EXPERIMENT: what to measure first for a better verdict
// (cli/calibration_needs.hpp).

namespace payoff {

[[nodiscard]] ExitCode calibrate_needs(const Arguments& arguments, Session& session);

}  // namespace payoff
