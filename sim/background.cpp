// SPDX-License-Identifier: Apache-2.0
#include "sim/background.hpp"

#include <algorithm>
#include <cstddef>

#include "model/split_mix.hpp"

namespace payoff::sim {

BackgroundClass background_class(LinkClass link) {
  switch (link) {
    case LinkClass::fabric:
      return BackgroundClass::fabric;
    case LinkClass::pcie:
      return BackgroundClass::pcie;
    case LinkClass::socket:
      return BackgroundClass::socket;
    case LinkClass::nic:
      return BackgroundClass::nic;
    case LinkClass::network:
      break;
    case LinkClass::global:
      return BackgroundClass::global;
  }
  return BackgroundClass::network;
}

bool differs_from_link_to_link(const Topology& topology) {
  return std::any_of(topology.background.begin(), topology.background.end(),
                     [](const BackgroundLoad& load) { return load.sd > 0; });
}

// The sum of twelve uniform numbers (each a multiple of 2^-32, so the sum is exact) less six.
double normal_draw(std::uint64_t seed, std::uint64_t index) {
  SplitMix draws(seed * SplitMix::step + index);
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += static_cast<double>(draws.next() >> 32U) / 4294967296.0;
  }
  return sum;
}

double left_by_others(const Topology& topology, LinkClass link, EdgeId edge) {
  constexpr double most_taken = 0.95;
  const BackgroundLoad& load =
      topology.background[static_cast<std::size_t>(background_class(link))];
  const double drawn = load.sd > 0 ? load.sd * normal_draw(topology.seed, edge) : 0.0;
  return 1 - std::clamp(load.mean + drawn, 0.0, most_taken);
}

std::vector<Bandwidth> left_capacities(const Topology& topology, const LinkGraph& graph) {
  std::vector<Bandwidth> result;
  result.reserve(graph.edges().size());
  for (EdgeId edge = 0; edge < graph.edges().size(); ++edge) {
    const Edge& known = graph.edges()[edge];
    result.push_back(known.capacity * left_by_others(topology, known.link_class, edge));
  }
  return result;
}

}  // namespace payoff::sim
