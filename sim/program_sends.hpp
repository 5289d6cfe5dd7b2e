// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/link_graph.hpp"
#include "sim/program.hpp"

// What the places of a program send each other, step by step, without saying which chunks. Most
// steps are like others (those of a ring are all alike), so that a whole program is few patterns.

namespace payoff::sim {

struct PlacedSend {
  Rank from{};
  Rank to{};
  double share{};  // of the collective's size
  double part{1};  // of what its place may send at once

  bool operator==(const PlacedSend&) const = default;
};

struct StepSends {
  std::vector<PlacedSend> sends;       // by sender
  std::vector<std::uint32_t> first;    // of a place, and where the last one's end
  std::vector<std::uint32_t> awaited;  // of a place: how many it makes or gets
};
// In the order of their senders, and of the list where these are the same.
[[nodiscard]] StepSends in_order(std::vector<PlacedSend> sends, Rank places);
[[nodiscard]] StepSends sends_of_step(const Program& program, std::uint32_t step);

struct ProgramSends {
  Rank places{};
  std::vector<StepSends> patterns;             // that differ
  std::vector<std::uint32_t> pattern_of_step;  // of every step

  [[nodiscard]] std::uint32_t steps() const {
    return static_cast<std::uint32_t>(pattern_of_step.size());
  }
  [[nodiscard]] const StepSends& at(std::uint32_t step) const {
    return patterns[pattern_of_step[step]];
  }
  [[nodiscard]] std::uint64_t count() const;  // of all steps
};
// Nothing if its patterns have more sends than `most` together.
[[nodiscard]] std::optional<ProgramSends> sends_of(
    const Program& program, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
[[nodiscard]] bool same_sends(const ProgramSends& a, const ProgramSends& b);

}  // namespace payoff::sim
