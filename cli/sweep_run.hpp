// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
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

inline constexpr OptionSpec sweep_csv_option{
    csv_option.name, "FILE",
    "the results as CSV too, once all are there; with shards one file each; `-` for stdout",
    Takes::value, true};

// Where results go.
struct SweepOutputs {
  std::optional<Argument> log;  // JSON Lines; else they are printed, or CSV alone is made
  std::optional<Argument> csv;

  [[nodiscard]] bool csv_is_printed() const { return csv && csv->text == "-"; }
  // Of this shard; nothing where it is printed.
  [[nodiscard]] std::optional<std::filesystem::path> csv_file(const Shard& shard) const;
};

[[nodiscard]] ExitCode run_jobs(const Sweep& sweep, const std::string& first_line,
                                const SweepOutputs& outputs, const Arguments& arguments,
                                Session& session);

}  // namespace payoff
