// SPDX-License-Identifier: Apache-2.0
#include "sim/class_program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/folding.hpp"
#include "sim/members.hpp"

namespace payoff::sim {

ClassPrograms::ClassPrograms(const Incidence& incidence, const SendIncidence& sends,
                             const Partition& partition)
    : sends_(sends), partition_(partition), loads_(partition.send_classes) {
  const std::vector<std::uint32_t> links = representatives(partition.links, partition.link_classes);
  std::vector<std::uint32_t> class_of_link(incidence.links.size(), Incidence::none);
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    class_of_link[links[l]] = l;
  }
  // The ways over one link of every class.
  const Members<Incidence::Load> ways(links.size(), [&](auto add) {
    for (std::uint32_t w = 0; w < sends.ways.size(); ++w) {
      for (const Incidence::Load& load : sends.ways[w].loads) {
        if (class_of_link[load.link] != Incidence::none) {
          add(class_of_link[load.link], Incidence::Load{w, load.units});
        }
      }
    }
  });
  const Members<std::uint32_t> sends_of_way(sends.ways.size(), [&](auto add) {
    for (std::uint32_t s = 0; s < sends.sends.size(); ++s) {
      add(sends.sends[s].way, partition.sends[s]);
    }
  });
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    std::map<std::pair<std::uint32_t, double>, double> counts;
    for (const Incidence::Load& way : ways.of(l)) {
      for (const std::uint32_t send : sends_of_way.of(way.link)) {
        counts[{send, way.units}] += 1;
      }
    }
    for (const auto& [what, count] : counts) {
      loads_[what.first].push_back({l, Bytes{what.second}, count});
    }
  }
}

ClassProgram ClassPrograms::of(const SendIncidence::Laid& program) const {
  ClassProgram result;
  std::unordered_map<std::uint32_t, Rank> seats;  // looked up only
  for (Rank p = 0; p < program.sends->places; ++p) {
    seats.try_emplace(partition_.seats[program.first_seat + p], static_cast<Rank>(seats.size()));
  }
  result.sends.places = static_cast<Rank>(seats.size());
  result.sends.pattern_of_step = program.sends->pattern_of_step;
  std::size_t number = program.first_send;
  for (const StepSends& pattern : program.sends->patterns) {
    struct Kept {
      PlacedSend send;
      std::uint32_t send_class{};
    };
    std::vector<Kept> kept;
    std::unordered_set<std::uint32_t> seen;  // looked up only
    for (const PlacedSend& send : pattern.sends) {
      const SendIncidence::Send& known = sends_.sends[number];
      const std::uint32_t send_class = partition_.sends[number++];
      if (seen.insert(send_class).second) {
        kept.push_back({{seats.at(partition_.seats[known.from]),
                         seats.at(partition_.seats[known.to]), send.share, send.part},
                        send_class});
      }
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Kept& a, const Kept& b) { return a.send.from < b.send.from; });
    std::vector<PlacedSend> sends;
    std::vector<std::vector<LinkLoad>>& ways = result.ways.emplace_back();
    for (const Kept& one : kept) {
      sends.push_back(one.send);
      ways.push_back(loads_[one.send_class]);
    }
    result.sends.patterns.push_back(in_order(std::move(sends), result.sends.places));
  }
  return result;
}

}  // namespace payoff::sim
