// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/incidence.hpp"
#include "sim/send_incidence.hpp"

// The coarsest equitable partition of an incidence of ranks, channels and links. Two ranks are of
// one class only if they run the same stage at the same speed and their channels are of the same
// classes; two channels only if their ranks are and they put the same loads on links of the same
// classes; two links only if they are as wide and carry the same from the same classes. (Colour
// refinement: Grohe, Kersting, Mladenov, Selman, "Dimension Reduction via Colour Refinement", ESA
// 2014, for linear programs.)
//
// At level `steps` the sends of programs are part of it: two sends only if they are the same of the
// same steps of the same program, between seats of the same classes, over links of the same
// classes; two seats only if their channels are and they make and get the same sends. Then all
// sends of a class start and end at the same dates.

namespace payoff::sim {

// Class of each, counted from 0 without gaps.
struct Partition {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> channels;
  std::vector<std::uint32_t> links;
  std::uint32_t rank_classes{};
  std::uint32_t channel_classes{};
  std::uint32_t link_classes{};
  // At level `steps`.
  std::vector<std::uint32_t> seats;
  std::vector<std::uint32_t> sends;
  std::vector<std::uint32_t> ways;
  std::uint32_t seat_classes{};
  std::uint32_t send_classes{};
  std::uint32_t way_classes{};
};

[[nodiscard]] Partition fold(const Incidence& incidence, const SendIncidence& sends = {});
// Everything in a class of its own.
[[nodiscard]] Partition unfolded(const Incidence& incidence, const SendIncidence& sends = {});

}  // namespace payoff::sim
