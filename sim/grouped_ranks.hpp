// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/link_graph.hpp"

namespace payoff::sim {

// Ranks by the number of what they are on, such as a server: each list in the order in which its
// ranks come, and the lists in the order of their first ones.
template <class NumberOf>
[[nodiscard]] std::vector<std::vector<Rank>> grouped_ranks(std::span<const Rank> ranks,
                                                           NumberOf number_of) {
  std::vector<std::vector<Rank>> groups;
  std::map<std::uint32_t, std::size_t> place;
  for (const Rank rank : ranks) {
    const auto [known, added] = place.try_emplace(number_of(rank), groups.size());
    if (added) {
      groups.emplace_back();
    }
    groups[known->second].push_back(rank);
  }
  return groups;
}

}  // namespace payoff::sim
