// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"

// payoff calibrate import FILE... -o SAMPLES.json: what nccl-tests, Google Benchmark, nvbench or a
// table of one's own measured, as samples that `payoff calibrate fit` reads.

namespace payoff {

[[nodiscard]] ExitCode import_measurements(const Arguments& arguments, Session& session);

}  // namespace payoff
