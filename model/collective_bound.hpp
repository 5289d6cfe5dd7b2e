// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "model/collective_kind.hpp"
#include "model/group_paths.hpp"
#include "model/hardware.hpp"
#include "model/units.hpp"

// What no collective is shorter than, whatever algorithm runs it and however good the links are:
// the bytes that must cross the busiest port, at its line rate, and one crossing of a switch for
// every doubling of the domains that have to hear of each other. It bounds what an uncertain law
// may say; it is no prediction.
//
// Bytes: an all-reduce of n ranks sends at least 2 (n - 1) / n of the buffer from each of them,
// halves of it (all-gather, reduce-scatter) half of that (Patarasuk and Yuan, J. Parallel Distrib.
// Comput. 69, 2009, section 3); a domain counts as one rank towards its NICs. A switch that reduces
// needs the buffer once. Valid without reduction in the network's switches (SHARP), as NCCL runs by
// default.

namespace payoff {

class CollectiveBound {
 public:
  CollectiveBound() = default;
  // The group has two ranks at least.
  CollectiveBound(const Cluster& cluster, const GroupPaths& paths);

  // `size` as nccl-tests counts it.
  [[nodiscard]] Seconds least(Collective collective, Bytes size) const;

 private:
  struct Least {
    double seconds_per_byte{};
    Seconds latency{};
  };
  std::array<Least, collective_count> least_{};
};

}  // namespace payoff
