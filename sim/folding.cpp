// SPDX-License-Identifier: Apache-2.0
#include "sim/folding.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "sim/incidence_members.hpp"

namespace payoff::sim {
namespace {

void add_places(const Incidence& incidence, const Partition& partition, FoldedSystem& system) {
  const auto channel_of = [&](const Incidence::RankPart& rank, Incidence::Role role) {
    const std::uint32_t channel = rank.channel[static_cast<std::size_t>(role)];
    return channel == Incidence::none ? Incidence::none : partition.channels[channel];
  };
  const auto peer = [&](const Incidence::RankPart& rank, Incidence::Role role) -> std::size_t {
    const std::uint32_t channel = rank.channel[static_cast<std::size_t>(role)];
    return channel == Incidence::none ? 0
                                      : partition.ranks[incidence.channels[channel].members.back()];
  };
  for (const std::uint32_t r : representatives(partition.ranks, partition.rank_classes)) {
    const Incidence::RankPart& rank = incidence.ranks[r];
    Place& place = system.places.places.emplace_back();
    place.stage = rank.stage;
    place.ranks = 0;
    place.slowdown = rank.slowdown;
    const std::uint32_t gradients = channel_of(rank, Incidence::Role::gradients);
    // Of groups that the layout has not, which send nothing.
    const auto of_group = [&](Incidence::Role role) {
      const std::uint32_t channel = channel_of(rank, role);
      return channel == Incidence::none ? gradients : channel;
    };
    for (std::size_t kind = 0; kind < group_kind_count; ++kind) {
      place.group[kind] = of_group(static_cast<Incidence::Role>(kind));
    }
    place.next = peer(rank, Incidence::Role::forward);
    place.previous = peer(rank, Incidence::Role::backward);
    system.forward.push_back(channel_of(rank, Incidence::Role::forward));
    system.backward.push_back(channel_of(rank, Incidence::Role::backward));
  }
  for (const std::uint32_t rank_class : partition.ranks) {
    ++system.places.places[rank_class].ranks;
  }
}

}  // namespace

std::vector<std::uint32_t> representatives(const std::vector<std::uint32_t>& classes,
                                           std::uint32_t count) {
  std::vector<std::uint32_t> result(count, Incidence::none);
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    if (result[classes[i]] == Incidence::none) {
      result[classes[i]] = i;
    }
  }
  return result;
}

FoldedSystem quotient(const Incidence& incidence, const Partition& partition) {
  FoldedSystem system;
  add_places(incidence, partition, system);
  for (const std::uint32_t c : representatives(partition.channels, partition.channel_classes)) {
    const Incidence::Channel& channel = incidence.channels[c];
    system.channels.push_back(
        {channel.role, incidence.ranks[channel.members.front()].stage, {}, {}});
    std::set<std::size_t> members;
    for (const Rank rank : channel.members) {
      members.insert(partition.ranks[rank]);
    }
    system.places.groups.emplace_back(members.begin(), members.end());
  }
  const Members<ChannelLoad> loads = loads_by_link(incidence);
  for (const std::uint32_t l : representatives(partition.links, partition.link_classes)) {
    const auto link = static_cast<std::uint32_t>(system.links.size());
    const Incidence::LinkPart& part = incidence.links[l];
    system.links.push_back({part.edge, 0, part.capacity, part.inside});
    std::array<std::map<std::pair<std::uint32_t, double>, double>, 2> counts;
    for (const ChannelLoad& load : loads.of(l)) {
      counts[load.pairs ? 1 : 0][{partition.channels[load.channel], load.units}] += 1;
    }
    for (const auto& [what, count] : counts[0]) {
      system.channels[what.first].ring.push_back({link, what.second, count});
    }
    for (const auto& [what, count] : counts[1]) {
      system.channels[what.first].pairs.push_back({link, what.second, count});
    }
  }
  for (const std::uint32_t link_class : partition.links) {
    ++system.links[link_class].alike;
  }
  return system;
}

}  // namespace payoff::sim
