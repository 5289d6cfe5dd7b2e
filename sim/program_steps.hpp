// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.hpp"

// The sends of one step of every kind of program, appended by sender.

namespace payoff::sim::detail {

void ring_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends);
void rail_rings_step(Rank servers, Rank gpus, Outcome outcome, std::uint32_t step,
                     std::vector<Send>& sends);
void halving_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
void bruck_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
void pairwise_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
void pxn_step(Rank servers, Rank gpus, std::uint32_t step, std::vector<Send>& sends);
void hierarchical_step(Rank servers, Rank gpus, std::uint32_t step, std::vector<Send>& sends);
void two_shot_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends);
// Workers to those who sum a chunk each, and back.
void star_step(Rank workers, Rank servers, std::uint32_t step, std::vector<Send>& sends);

// Trees with `segments` chunks each, one after the other: up, and down from the root.
struct TreeSteps {
  const std::vector<std::vector<Rank>>& parent;
  const std::vector<std::vector<std::uint32_t>>& depth;
  std::uint32_t deepest{};
  std::uint32_t segments{1};
};
void tree_step(const TreeSteps& trees, std::uint32_t step, std::vector<Send>& sends);

}  // namespace payoff::sim::detail
