// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "sim/path.hpp"
#include "sim/step_stage.hpp"

// Which of the places that end last speaks for the step: its waterfall, its traffic, its critical
// path. Several often end at once, because the last gradients arrive everywhere together, and how
// they are numbered depends on how ranks fold. So nothing decides but what is the same for all
// ranks of a class: the earliest stage, then who waited least for others, as a straggler does, then
// what would be reported, number by number.

namespace payoff::sim {

// The smallest of those with the same end is taken; equal ones report the same.
struct PlaceKey {
  static constexpr std::size_t stage_and_times = 18;
  std::array<std::int64_t, stage_and_times + cause_count> words{};
  std::array<double, 6> bytes{};

  friend auto operator<=>(const PlaceKey&, const PlaceKey&) = default;
};
[[nodiscard]] PlaceKey key_of(const StageRun& place, std::size_t stage, Bytes sent, Bytes received);

}  // namespace payoff::sim
