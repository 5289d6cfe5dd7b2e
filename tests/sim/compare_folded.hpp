// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/sim/uneven_jobs.hpp"

// Folded and unfolded steps of random uneven jobs beside each other.

namespace payoff::test {

// The first link whose bytes, use or latest message are others than those of its class; empty:
// none.
[[nodiscard]] std::string unequal_links(const sim::SimulatedStep& folded,
                                        const sim::BuiltPlatform& classes,
                                        const sim::SimulatedStep& whole,
                                        const sim::BuiltPlatform& all);

// Of the jobs of seeds first to last: folded and unfolded steps are compared, rank by rank and link
// by link. Prints how many there were of each kind, and how far they folded.
struct FoldingSum {
  int jobs{};
  std::uint64_t ranks{};
  std::uint64_t places{};
  std::uint64_t links{};
  std::uint64_t link_classes{};
  std::uint64_t sends{};  // at level `steps`
  std::uint64_t send_classes{};
};
struct FoldingCount {
  FoldingSum all;
  int uneven{};  // two asymmetries or more
  int late{};    // some link made a message late
  std::map<std::string, FoldingSum> of_kind;
  std::map<std::string, int> with;       // jobs by asymmetry
  std::map<std::string, int> of_groups;  // by what they are of
};
[[nodiscard]] FoldingCount compare_folded(int first, int last, bool steps = false);

}  // namespace payoff::test
