// SPDX-License-Identifier: Apache-2.0
#include "sim/incidence_members.hpp"

namespace payoff::sim {

Members<ChannelLoad> loads_by_link(const Incidence& incidence) {
  return {incidence.links.size(), [&](auto add) {
            for (std::uint32_t c = 0; c < incidence.channels.size(); ++c) {
              for (const Incidence::Load& load : incidence.channels[c].ring) {
                add(load.link, ChannelLoad{c, false, load.units});
              }
              for (const Incidence::Load& load : incidence.channels[c].pairs) {
                add(load.link, ChannelLoad{c, true, load.units});
              }
            }
          }};
}

Members<std::uint32_t> received_by_rank(const Incidence& incidence) {
  return {incidence.ranks.size(), [&](auto add) {
            for (std::uint32_t c = 0; c < incidence.channels.size(); ++c) {
              const Incidence::Channel& channel = incidence.channels[c];
              if (Incidence::is_send(channel.role)) {
                add(channel.members.back(), c);
              }
            }
          }};
}

Members<Incidence::Load> ways_by_link(const Incidence& incidence, const SendIncidence& sends) {
  return {incidence.links.size(), [&](auto add) {
            for (std::uint32_t w = 0; w < sends.ways.size(); ++w) {
              for (const Incidence::Load& load : sends.ways[w].loads) {
                add(load.link, Incidence::Load{w, load.units});
              }
            }
          }};
}

Members<std::uint32_t> sends_by_way(const SendIncidence& sends) {
  return {sends.ways.size(), [&](auto add) {
            for (std::uint32_t s = 0; s < sends.sends.size(); ++s) {
              add(sends.sends[s].way, s);
            }
          }};
}

Members<std::uint32_t> sends_by_seat(const SendIncidence& sends) {
  return {sends.seats.size(), [&](auto add) {
            for (std::uint32_t s = 0; s < sends.sends.size(); ++s) {
              add(sends.sends[s].from, 2 * s);
              add(sends.sends[s].to, 2 * s + 1);
            }
          }};
}

Members<std::uint32_t> seats_by_channel(const Incidence& incidence, const SendIncidence& sends) {
  return {incidence.channels.size(), [&](auto add) {
            for (std::uint32_t s = 0; s < sends.seats.size(); ++s) {
              add(sends.seats[s].channel, s);
            }
          }};
}

}  // namespace payoff::sim
