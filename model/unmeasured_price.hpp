// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "model/collective_terms.hpp"
#include "model/hardware.hpp"
#include "model/spread_band.hpp"
#include "model/units.hpp"

// The price of an algorithm that no table of measurements has: its own steps and bytes, at what the
// law of the group's links says of NCCL's rings on the same links (protocol Simple). That it has a
// ring's share of a link is assumed, so its spread is one of its own beside the law's.

namespace payoff {

struct UnmeasuredPrice {
  Seconds time{};
  Seconds latency{};     // the part that does not depend on the size
  double relative_sd{};  // one standard deviation, the law's and that of taking it from rings
};

class UnmeasuredLaw {
 public:
  // `of_rings`: one standard deviation of the logarithm of the time, for taking a ring's law. The
  // group has to pass check_group (model/group_paths.hpp), and has two ranks at least.
  UnmeasuredLaw(const Cluster& cluster, const Group& group, const CollectiveTerms& terms,
                double of_rings);

  [[nodiscard]] UnmeasuredPrice price(Bytes size) const;

 private:
  Seconds latency_{};
  double root_{};  // seconds per square root of a byte
  double fill_{};  // the same, until every stage is full
  double per_root_full_{};
  double seconds_per_byte_{};
  BandSds relative_sd_{};
};

// Sums in the switches between nodes as NCCL's CollNet has them with chains inside (SHARP; Graham
// et al., COM-HPC 2016; NVIDIA/nccl, src/graph/tuning.cc): chains of a domain's ranks up and down,
// and one way to the switches and back, over which the buffer passes once in each direction.
[[nodiscard]] CollectiveTerms collnet_chain_terms(const GroupPaths& paths);

// How far an in-switch sum may be from what rings of its links achieve. NVLS is the only one that
// was measured beside rings: on 8 H100 its call is 0.8 times as long where latency decides, its
// share of the link 0.85 of a ring's. Nobody published a table of SHARP: assumed wider than both.
inline constexpr double sd_of_switch_sums = 0.5;
// Packed trees: Wang et al. (MLSys 2020) measured trees and rings on the same links. In the mean of
// 46 sets of GPUs trees gain 2 times for all-reduces, where the same executed at equal shares of
// the links gain 2.5 (tests/sim/blink_test): trees had 0.8 of a ring's share.
inline constexpr double sd_of_packed_trees = 0.25;

}  // namespace payoff
