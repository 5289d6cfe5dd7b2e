// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.hpp"

namespace payoff::sim::detail {

// The rank at a place of chain k of a server: from GPU k on.
[[nodiscard]] constexpr Rank on_rail(Rank place, Rank gpus, Rank k) {
  return place / gpus * gpus + (k + place % gpus) % gpus;
}

// The GPU of a server at place i of its path k.
[[nodiscard]] inline Rank on_path(const ServerPaths& inside, Rank gpus, Rank k, Rank i) {
  return inside.empty() ? (k + i) % gpus : inside[k][i];
}

// The rank at a place of ring k on rails (RailRingsProgram). A ring leaves a server at another GPU
// than it enters it at, so every other server is gone through backwards: what leaves GPU k - 1
// enters at GPU k - 1, on one rail, as in NCCL ("Alternate rings to avoid crossing rails",
// src/graph/connect.cc). Of an odd number of servers the last meets the first on two rails.
[[nodiscard]] inline Rank in_rail_ring(Rank place, Rank gpus, Rank k, const ServerPaths& inside) {
  const Rank server = place / gpus;
  const Rank i = place % gpus;
  return server * gpus + on_path(inside, gpus, k, server % 2 == 1 ? gpus - 1 - i : i);
}

// How often a chunk passes all ranks: to be summed, to be handed on, or both.
[[nodiscard]] constexpr std::uint32_t passes(Outcome outcome) {
  return outcome == Outcome::all_reduced ? 2 : 1;
}

// Of every place of a tree, from the root, whose parent is itself.
[[nodiscard]] std::vector<std::uint32_t> depths(const std::vector<Rank>& parent);

[[nodiscard]] ProgramShape shape_of(const ProgramKind& kind);

}  // namespace payoff::sim::detail
