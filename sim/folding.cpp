// SPDX-License-Identifier: Apache-2.0
#include "sim/folding.hpp"

#include <map>
#include <set>
#include <utility>

namespace payoff::sim {
namespace {

struct Incident {
  std::uint32_t channel{};
  double units{};
  bool pairs{};
};

std::vector<std::vector<Incident>> by_link(const Incidence& incidence) {
  std::vector<std::vector<Incident>> result(incidence.links.size());
  for (std::uint32_t c = 0; c < incidence.channels.size(); ++c) {
    for (const Incidence::Load& load : incidence.channels[c].ring) {
      result[load.link].push_back({c, load.units, false});
    }
    for (const Incidence::Load& load : incidence.channels[c].pairs) {
      result[load.link].push_back({c, load.units, true});
    }
  }
  return result;
}

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
    place.group = {of_group(Incidence::Role::tensor),
                   of_group(Incidence::Role::context),
                   gradients,
                   of_group(Incidence::Role::replicas),
                   of_group(Incidence::Role::experts),
                   of_group(Incidence::Role::expert_tensor),
                   of_group(Incidence::Role::expert_gradients),
                   of_group(Incidence::Role::expert_replicas),
                   of_group(Incidence::Role::ends)};
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
  const std::vector<std::vector<Incident>> incident = by_link(incidence);
  for (const std::uint32_t l : representatives(partition.links, partition.link_classes)) {
    const auto link = static_cast<std::uint32_t>(system.links.size());
    const Incidence::LinkPart& part = incidence.links[l];
    system.links.push_back({part.edge, 0, part.capacity, part.inside});
    std::map<std::pair<std::uint32_t, double>, double> counts[2];
    for (const Incident& i : incident[l]) {
      counts[i.pairs ? 1 : 0][{partition.channels[i.channel], i.units}] += 1;
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
