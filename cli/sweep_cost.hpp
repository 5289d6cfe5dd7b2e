// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.hpp"
#include "cli/sweep_job.hpp"
#include "study/sweep.hpp"

// What a sweep will cost, said before its first job.

namespace payoff {

// The axes, the jobs, how many they are and how long they take: a few are run. `share`: as they are
// run together (cli/sweep_shared.hpp).
void say_plan(const SweepQuestion& question, const Shard& shard, bool share, Session& session);

// By the events of a few jobs across the sweep; nothing of short ones, nor of other engines.
// `first`: the first job of the shard that is still to be run, by its place there.
void announce_simulations(const SweepQuestion& question, const Shard& shard, std::uint64_t first,
                          Session& session);

}  // namespace payoff
