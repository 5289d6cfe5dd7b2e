// SPDX-License-Identifier: Apache-2.0
#include "sim/folding.hpp"

#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/signatures.hpp"

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

class Refinement {
 public:
  explicit Refinement(const Incidence& incidence)
      : incidence_(incidence), incident_(by_link(incidence)), receives_(incidence.ranks.size()) {
    for (std::uint32_t c = 0; c < incidence.channels.size(); ++c) {
      const Incidence::Channel& channel = incidence.channels[c];
      if (channel.role == Incidence::Role::forward || channel.role == Incidence::Role::backward) {
        receives_[channel.members.back()].push_back(c);
      }
    }
    begin();
  }

  Partition run() {
    for (std::uint64_t before = 0, now = count(); now != before; before = now, now = count()) {
      refine_channels();
      refine_links();
      refine_ranks();
    }
    return std::move(partition_);
  }

 private:
  [[nodiscard]] std::uint64_t count() const {
    return std::uint64_t{partition_.rank_classes} + partition_.channel_classes +
           partition_.link_classes;
  }

  void begin() {
    Signatures ranks;
    for (const Incidence::RankPart& rank : incidence_.ranks) {
      ranks.begin();
      ranks.add(rank.stage);
      ranks.add(std::bit_cast<std::uint64_t>(rank.slowdown));
    }
    partition_.rank_classes = ranks.classify(partition_.ranks);
    Signatures links;
    for (const Incidence::LinkPart& link : incidence_.links) {
      links.begin();
      links.add(std::bit_cast<std::uint64_t>(link.capacity.si));
      links.add(link.inside ? 1 : 0);
    }
    partition_.link_classes = links.classify(partition_.links);
    Signatures channels;
    for (const Incidence::Channel& channel : incidence_.channels) {
      channels.begin();
      channels.add(static_cast<std::uint64_t>(channel.role));
    }
    partition_.channel_classes = channels.classify(partition_.channels);
  }

  void add_loads(const std::vector<Incidence::Load>& loads, Signatures& signatures) const {
    signatures.add(loads.size());
    const std::size_t from = signatures.here();
    for (const Incidence::Load& load : loads) {
      signatures.add(partition_.links[load.link]);
      signatures.add(std::bit_cast<std::uint64_t>(load.units));
    }
    signatures.sort_from<2>(from);
  }

  void refine_channels() {
    Signatures signatures;
    for (std::uint32_t c = 0; c < incidence_.channels.size(); ++c) {
      const Incidence::Channel& channel = incidence_.channels[c];
      signatures.begin();
      signatures.add(partition_.channels[c]);
      signatures.add(channel.members.size());
      const std::size_t from = signatures.here();
      for (const Rank rank : channel.members) {
        signatures.add(partition_.ranks[rank]);
      }
      if (channel.role < Incidence::Role::forward) {
        signatures.sort_from<1>(from);
      }
      add_loads(channel.ring, signatures);
      add_loads(channel.pairs, signatures);
    }
    partition_.channel_classes = signatures.classify(partition_.channels);
  }

  void refine_links() {
    Signatures signatures;
    for (std::uint32_t l = 0; l < incidence_.links.size(); ++l) {
      signatures.begin();
      signatures.add(partition_.links[l]);
      const std::size_t from = signatures.here();
      for (const Incident& incident : incident_[l]) {
        signatures.add(partition_.channels[incident.channel]);
        signatures.add(std::bit_cast<std::uint64_t>(incident.units));
        signatures.add(incident.pairs ? 1 : 0);
      }
      signatures.sort_from<3>(from);
    }
    partition_.link_classes = signatures.classify(partition_.links);
  }

  void refine_ranks() {
    Signatures signatures;
    for (std::uint32_t r = 0; r < incidence_.ranks.size(); ++r) {
      signatures.begin();
      signatures.add(partition_.ranks[r]);
      for (const std::uint32_t channel : incidence_.ranks[r].channel) {
        signatures.add(channel == Incidence::none ? Incidence::none : partition_.channels[channel]);
      }
      const std::size_t from = signatures.here();
      for (const std::uint32_t channel : receives_[r]) {
        signatures.add(partition_.channels[channel]);
      }
      signatures.sort_from<1>(from);
    }
    partition_.rank_classes = signatures.classify(partition_.ranks);
  }

  const Incidence& incidence_;
  std::vector<std::vector<Incident>> incident_;
  std::vector<std::vector<std::uint32_t>> receives_;
  Partition partition_;
};

// The first member of every class.
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

Partition fold(const Incidence& incidence) { return Refinement(incidence).run(); }

Partition unfolded(const Incidence& incidence) {
  Partition result;
  const auto apart = [](std::size_t count, std::vector<std::uint32_t>& classes) {
    classes.resize(count);
    std::iota(classes.begin(), classes.end(), 0U);
    return static_cast<std::uint32_t>(count);
  };
  result.rank_classes = apart(incidence.ranks.size(), result.ranks);
  result.channel_classes = apart(incidence.channels.size(), result.channels);
  result.link_classes = apart(incidence.links.size(), result.links);
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
