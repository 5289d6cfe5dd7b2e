// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/session.hpp"
#include "cli/sweep_job.hpp"

// What is wrong with a sweep as a whole, before its first job. That some combinations of values
// are no job is a result; a value that no job can have is a mistake, and so is an experiment that
// is wrong whatever the axes say.

namespace payoff {

// A job that can be read, for what all jobs have in common; nothing after errors, which were
// reported under the axis or in the file.
[[nodiscard]] std::optional<ReadExperiment> report_mistakes(const SweepQuestion& question,
                                                            Session& session);

}  // namespace payoff
