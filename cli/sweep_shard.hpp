// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "study/sweep.hpp"

// Which part of a sweep this process runs: what --shard says, else its place among the tasks of a
// Slurm job array and of srun or mpirun, by the variables that these set.

namespace payoff {

inline constexpr OptionSpec shard_option{
    "--shard", "I/N",
    "runs every N-th job, from job I on (0 to N-1); default: as Slurm or MPI says", Takes::value};

[[nodiscard]] Shard read_shard(const Arguments& arguments, Session& session);

}  // namespace payoff
