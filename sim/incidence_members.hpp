// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/incidence.hpp"
#include "sim/members.hpp"
#include "sim/send_incidence.hpp"

// An incidence told the other way round: who loads a link, what comes to a rank, who sends over a
// way and from a seat.

namespace payoff::sim {

struct ChannelLoad {
  std::uint32_t channel{};
  bool pairs{};
  double units{};
};

[[nodiscard]] Members<ChannelLoad> loads_by_link(const Incidence& incidence);

// Channels of sends that end at the rank.
[[nodiscard]] Members<std::uint32_t> received_by_rank(const Incidence& incidence);

// A way and what of it a link carries.
[[nodiscard]] Members<Incidence::Load> ways_by_link(const Incidence& incidence,
                                                    const SendIncidence& sends);

[[nodiscard]] Members<std::uint32_t> sends_by_way(const SendIncidence& sends);

// A send twice its number, and one more for whom it is sent to.
[[nodiscard]] Members<std::uint32_t> sends_by_seat(const SendIncidence& sends);

[[nodiscard]] Members<std::uint32_t> seats_by_channel(const Incidence& incidence,
                                                      const SendIncidence& sends);

}  // namespace payoff::sim
