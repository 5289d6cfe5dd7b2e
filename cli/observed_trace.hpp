// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "study/observed.hpp"

// A trace of PyTorch's profiler as an observation: `--observed rank0.json`.

namespace payoff {

// The middle whole step of the trace, its exposed communication, and how much its steps differ
// (docs/import.md). `named` is the part of the argument that names the file; what is wrong with the
// file, or with it as a measurement, is reported.
[[nodiscard]] std::optional<Observation> observe_trace(const Argument& named, Session& session);

}  // namespace payoff
