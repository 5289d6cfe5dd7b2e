// SPDX-License-Identifier: Apache-2.0
#include "sim/refinement.hpp"

#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

#include "sim/incidence_members.hpp"
#include "sim/members.hpp"
#include "sim/signatures.hpp"

namespace payoff::sim {
namespace {

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

class Refinement {
 public:
  Refinement(const Incidence& incidence, const SendIncidence& sends)
      : incidence_(incidence),
        sends_(sends),
        loads_(loads_by_link(incidence)),
        received_(received_by_rank(incidence)),
        ways_(ways_by_link(incidence, sends)),
        of_way_(sends_by_way(sends)),
        of_seat_(sends_by_seat(sends)),
        seats_(seats_by_channel(incidence, sends)) {
    begin();
  }

  Partition run() {
    for (std::uint64_t before = 0, now = count(); now != before; before = now, now = count()) {
      refine_ways();
      refine_sends();
      refine_seats();
      refine_channels();
      refine_links();
      refine_ranks();
    }
    return std::move(partition_);
  }

 private:
  [[nodiscard]] std::uint64_t count() const {
    return std::uint64_t{partition_.rank_classes} + partition_.channel_classes +
           partition_.link_classes + partition_.seat_classes + partition_.send_classes +
           partition_.way_classes;
  }

  void begin() {
    Signatures ranks;
    for (const Incidence::RankPart& rank : incidence_.ranks) {
      ranks.begin();
      ranks.add(rank.stage);
      ranks.add(bits(rank.slowdown));
    }
    partition_.rank_classes = ranks.classify(partition_.ranks);
    Signatures links;
    for (const Incidence::LinkPart& link : incidence_.links) {
      links.begin();
      links.add(bits(link.capacity.si));
      links.add(link.inside ? 1 : 0);
    }
    partition_.link_classes = links.classify(partition_.links);
    Signatures channels;
    for (const Incidence::Channel& channel : incidence_.channels) {
      channels.begin();
      channels.add(static_cast<std::uint64_t>(channel.role));
    }
    partition_.channel_classes = channels.classify(partition_.channels);
    Signatures seats;
    for (const SendIncidence::Seat& seat : sends_.seats) {
      seats.begin();
      seats.add(seat.program);
    }
    partition_.seat_classes = seats.classify(partition_.seats);
    Signatures sends;
    for (const SendIncidence::Send& send : sends_.sends) {
      sends.begin();
      sends.add(send.what);
    }
    partition_.send_classes = sends.classify(partition_.sends);
    partition_.ways.assign(sends_.ways.size(), 0);
    partition_.way_classes = sends_.ways.empty() ? 0 : 1;
  }

  void add_loads(const std::vector<Incidence::Load>& loads, Signatures& signatures) const {
    signatures.add(loads.size());
    const std::size_t from = signatures.here();
    for (const Incidence::Load& load : loads) {
      signatures.add(partition_.links[load.link]);
      signatures.add(bits(load.units));
    }
    signatures.sort_from<2>(from);
  }

  void refine_ways() {
    Signatures signatures;
    for (std::uint32_t w = 0; w < sends_.ways.size(); ++w) {
      signatures.begin();
      signatures.add(partition_.ways[w]);
      add_loads(sends_.ways[w].loads, signatures);
      const std::size_t from = signatures.here();
      for (const std::uint32_t send : of_way_.of(w)) {
        signatures.add(partition_.sends[send]);
      }
      signatures.sort_from<1>(from);
    }
    partition_.way_classes = signatures.classify(partition_.ways);
  }

  void refine_sends() {
    Signatures signatures;
    for (std::uint32_t s = 0; s < sends_.sends.size(); ++s) {
      const SendIncidence::Send& send = sends_.sends[s];
      signatures.begin();
      signatures.add(partition_.sends[s]);
      signatures.add(partition_.seats[send.from]);
      signatures.add(partition_.seats[send.to]);
      signatures.add(partition_.ways[send.way]);
    }
    partition_.send_classes = signatures.classify(partition_.sends);
  }

  void refine_seats() {
    Signatures signatures;
    for (std::uint32_t s = 0; s < sends_.seats.size(); ++s) {
      signatures.begin();
      signatures.add(partition_.seats[s]);
      signatures.add(partition_.channels[sends_.seats[s].channel]);
      const std::size_t from = signatures.here();
      for (const std::uint32_t send : of_seat_.of(s)) {
        signatures.add(2 * std::uint64_t{partition_.sends[send / 2]} + send % 2);
      }
      signatures.sort_from<1>(from);
    }
    partition_.seat_classes = signatures.classify(partition_.seats);
  }

  void refine_channels() {
    Signatures signatures;
    for (std::uint32_t c = 0; c < incidence_.channels.size(); ++c) {
      const Incidence::Channel& channel = incidence_.channels[c];
      signatures.begin();
      signatures.add(partition_.channels[c]);
      signatures.add(channel.members.size());
      std::size_t from = signatures.here();
      for (const Rank rank : channel.members) {
        signatures.add(partition_.ranks[rank]);
      }
      if (!Incidence::is_send(channel.role)) {
        signatures.sort_from<1>(from);
      }
      add_loads(channel.ring, signatures);
      add_loads(channel.pairs, signatures);
      from = signatures.here();
      for (const std::uint32_t seat : seats_.of(c)) {
        signatures.add(partition_.seats[seat]);
      }
      signatures.sort_from<1>(from);
    }
    partition_.channel_classes = signatures.classify(partition_.channels);
  }

  void refine_links() {
    Signatures signatures;
    for (std::uint32_t l = 0; l < incidence_.links.size(); ++l) {
      signatures.begin();
      signatures.add(partition_.links[l]);
      signatures.add(loads_.of(l).size());
      std::size_t from = signatures.here();
      for (const ChannelLoad& incident : loads_.of(l)) {
        signatures.add(partition_.channels[incident.channel]);
        signatures.add(bits(incident.units));
        signatures.add(incident.pairs ? 1 : 0);
      }
      signatures.sort_from<3>(from);
      from = signatures.here();
      for (const Incidence::Load& way : ways_.of(l)) {
        signatures.add(partition_.ways[way.link]);
        signatures.add(bits(way.units));
      }
      signatures.sort_from<2>(from);
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
      for (const std::uint32_t channel : received_.of(r)) {
        signatures.add(partition_.channels[channel]);
      }
      signatures.sort_from<1>(from);
    }
    partition_.rank_classes = signatures.classify(partition_.ranks);
  }

  const Incidence& incidence_;
  const SendIncidence& sends_;
  Members<ChannelLoad> loads_;
  Members<std::uint32_t> received_;
  Members<Incidence::Load> ways_;  // of a link; `link` is the way
  Members<std::uint32_t> of_way_;
  Members<std::uint32_t> of_seat_;
  Members<std::uint32_t> seats_;
  Partition partition_;
};

}  // namespace

Partition fold(const Incidence& incidence, const SendIncidence& sends) {
  return Refinement(incidence, sends).run();
}

Partition unfolded(const Incidence& incidence, const SendIncidence& sends) {
  Partition result;
  const auto apart = [](std::size_t count, std::vector<std::uint32_t>& classes) {
    classes.resize(count);
    std::iota(classes.begin(), classes.end(), 0U);
    return static_cast<std::uint32_t>(count);
  };
  result.rank_classes = apart(incidence.ranks.size(), result.ranks);
  result.channel_classes = apart(incidence.channels.size(), result.channels);
  result.link_classes = apart(incidence.links.size(), result.links);
  result.seat_classes = apart(sends.seats.size(), result.seats);
  result.send_classes = apart(sends.sends.size(), result.sends);
  result.way_classes = apart(sends.ways.size(), result.ways);
  return result;
}

}  // namespace payoff::sim
