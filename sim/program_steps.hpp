// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.hpp"

// The sends of one step of every kind of program, appended.

namespace payoff::sim::detail {

// Of one rank, and of all of them.
[[nodiscard]] Send ring_send(Rank ranks, Outcome outcome, std::uint32_t step, Rank rank);
void ring_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends);
void rail_rings_step(Rank servers, Rank gpus, const ServerPaths& inside, Outcome outcome,
                     std::uint32_t step, std::vector<Send>& sends);
void mesh_rings_step(const std::vector<std::vector<Rank>>& orders, Outcome outcome,
                     std::uint32_t step, std::vector<Send>& sends);
void halving_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
void bruck_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends);
void pairwise_step(const PairwiseProgram& pairs, std::uint32_t step, std::vector<Send>& sends);
void pxn_step(const PxnProgram& pxn, std::uint32_t step, std::vector<Send>& sends);
void hierarchical_step(const HierarchicalProgram& program, std::uint32_t step,
                       std::vector<Send>& sends);
void two_shot_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
// Workers to those who sum a chunk each, and back.
void star_step(const ParameterServerProgram& star, std::uint32_t step, std::vector<Send>& sends);

void gossip_step(const std::vector<std::vector<Rank>>& neighbours, std::vector<Send>& sends);

// Trees with `segments` chunks each, one after the other: up to the root, down from it, or both.
struct TreeWays {
  bool up{};
  bool down{};
};
void tree_step(const ProgramShape& trees, TreeWays ways, std::uint32_t step,
               std::vector<Send>& sends);
// Up the trees of every server, between their roots there and back, down the trees.
void server_trees_step(const ProgramShape& trees, std::uint32_t step, std::vector<Send>& sends);
void nvls_step(const NvlsProgram& program, const ProgramShape& shape, std::uint32_t step,
               std::vector<Send>& sends);

}  // namespace payoff::sim::detail
