// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "sim/step.hpp"

// What a simulation will cost, said before it starts, by every command that runs one.

namespace payoff {

inline constexpr OptionSpec event_limit_option{
    "--event-limit", "N", "refuse to simulate more events than this; default 2000000000",
    Takes::value};

// The simulator's own where none is given. Refused where it is given and nothing is simulated.
[[nodiscard]] std::uint64_t read_event_limit(const Arguments& arguments, bool simulates,
                                             Session& session);

[[nodiscard]] std::string megabytes(Bytes size);

// Events, minutes, memory and timeline of runs that take seconds or more; nothing of shorter ones.
// `after_interrupt` says what Ctrl-C leaves, beside ending the run; `folding` how little folds and
// why, where it is little.
void announce_long_run(const sim::Estimate& cost, const std::string& after_interrupt,
                       const std::string& folding, Session& session);

}  // namespace payoff
