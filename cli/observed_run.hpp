// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "study/observed_collective.hpp"

// A file of nccl-tests as an observation: `--observed all_reduce_perf.txt`.

namespace payoff {

// By what the file looks like: text, or JSON of `-J`; a trace is neither.
[[nodiscard]] bool looks_like_nccl_tests(const std::string& path);

struct ObservedRun {
  ObservedCollective observed;
  std::string gpu;  // as profiles call it, or as the driver does; empty: not stated
  Argument written;
};

// `named` is the part of the argument that names the file; what is wrong with the file, or with it
// as a measurement, is reported at its line.
[[nodiscard]] std::optional<ObservedRun> observe_run(const Argument& named, Session& session);

}  // namespace payoff
