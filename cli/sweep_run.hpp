// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"
#include "cli/sweep_job.hpp"
#include "study/sweep.hpp"

// The jobs of a sweep, one after the other into their file: on all cores, shown on a terminal,
// stopped by a signal between two jobs.

namespace payoff {

struct Sweep {
  SweepQuestion question;
  Shard shard;
  std::uint64_t seed{};

  [[nodiscard]] std::uint64_t own_jobs() const { return shard.size(question.design.jobs()); }
};

inline constexpr OptionSpec resume_option{
    "--resume", "", "goes on with a FILE that was not finished", Takes::nothing};
inline constexpr OptionSpec no_share_option{
    "--no-share", "", "reads and prepares every job by itself, to see that nothing changes",
    Takes::nothing};

// `output`: else they are printed.
[[nodiscard]] ExitCode run_jobs(const Sweep& sweep, const std::string& first_line,
                                const std::optional<Argument>& output, const Arguments& arguments,
                                Session& session);

}  // namespace payoff
