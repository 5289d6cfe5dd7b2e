// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"
#include "cli/session.hpp"

// Groups and messages of a job: from NCCL's log, and from PyTorch's Flight Recorder.

namespace payoff {

[[nodiscard]] ExitCode import_nccl_log(const Arguments& arguments, Session& session);
[[nodiscard]] ExitCode import_flight_recorder(const Arguments& arguments, Session& session);

}  // namespace payoff
