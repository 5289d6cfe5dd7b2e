// SPDX-License-Identifier: Apache-2.0
#include "model/collective_bound.hpp"

#include <algorithm>
#include <cstddef>

#include "model/powers_of_two.hpp"

namespace payoff {
namespace {

// From node to node over EDR InfiniBand; slower generations and TCP take longer, of later ones no
// figure is published (stas00/ml-engineering @744d01e, network chapter).
constexpr Seconds least_crossing = 0.5_us;

// Of the message, through the port of one of `parts` ranks or domains of `ranks` ranks each.
double least_bytes(Collective collective, double parts, double ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (parts - 1) / parts;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return (parts - 1) / parts;
    case Collective::all_to_all:
      return ranks * (parts - 1) / parts;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
      break;
  }
  return 1.0;
}

}  // namespace

CollectiveBound::CollectiveBound(const Cluster& cluster, const GroupPaths& paths) {
  for (std::size_t c = 0; c < collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    Least& least = least_.at(c);
    if (paths.domains > 1) {
      least.seconds_per_byte = least_bytes(collective, paths.domains, paths.local) / paths.line.si;
      // Of an exchange nobody hears of all others' data.
      const double crossings = is_one_kernel(collective) ? log2_ceiling(paths.domains) : 1.0;
      least.latency = crossings * least_crossing;
    } else if (paths.local > 1) {
      const bool in_switch = cluster.fabric.nvls && collective == Collective::all_reduce;
      const double bytes = in_switch ? 1.0 : least_bytes(collective, paths.local, 1);
      least.seconds_per_byte = bytes / paths.gpu.si;
    }
  }
}

Seconds CollectiveBound::least(Collective collective, Bytes size) const {
  const Least& least = least_.at(index(collective));
  return std::max(least.latency, least.seconds_per_byte * size.si * 1_s);
}

}  // namespace payoff
