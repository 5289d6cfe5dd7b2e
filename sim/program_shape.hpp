// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/program.hpp"

namespace payoff::sim::detail {

// The rank at a place of ring k of the rails (RailRingsProgram).
[[nodiscard]] constexpr Rank on_rail(Rank place, Rank gpus, Rank k) {
  return place / gpus * gpus + (k + place % gpus) % gpus;
}

[[nodiscard]] ProgramShape shape_of(const ProgramKind& kind);

}  // namespace payoff::sim::detail
