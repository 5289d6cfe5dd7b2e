// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sim/collective_programs.hpp"
#include "sim/program.hpp"

// How many sends a collective is as a program, in closed form: before it is laid, which for a
// million ranks takes longer than anybody wants to wait to be refused.

namespace payoff::sim {

// Of all steps, to the last one.
[[nodiscard]] std::uint64_t send_count(const Program& program);

// Of the program that program_of (sim/collective_programs.hpp) would lay for so many ranks; nullopt
// of what has none. Of SHARP's trees at least so many. Rings along the links of a mesh (at most 10
// ranks) and trees packed on them are counted as those of a switch.
[[nodiscard]] std::optional<std::uint64_t> expected_sends(Collective collective,
                                                          Algorithm algorithm,
                                                          const ProgramRanks& ranks);
[[nodiscard]] std::optional<std::uint64_t> expected_sends(OtherProgram program,
                                                          const ProgramRanks& ranks,
                                                          const ProgramDetails& details = {});

}  // namespace payoff::sim
