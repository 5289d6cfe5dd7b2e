// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "calibrate/kernel_fit.hpp"

// What memory gives a kernel that streams once the cache is full. A straight line through all sizes
// has the cache's bandwidth in it, and a knee is only found with many sizes; where the cache ends
// is known.

namespace payoff {

struct BeyondCache {
  double gb_per_s{};
  double sd{};  // of it
};

// Of points of one law. From two sizes beyond `cache` on the slope between them, whatever part of
// the cache their beginnings had. With one such size and two inside, of the two bandwidths that
// meet at the cache's size; how much less than all of it keeps data, down to half (two halves, each
// with what the other holds), is in the deviation. Nothing where less lies beyond, or no bandwidth
// is told.
[[nodiscard]] std::optional<BeyondCache> bandwidth_beyond(std::span<const KernelPoint> points,
                                                          Bytes cache);

}  // namespace payoff
