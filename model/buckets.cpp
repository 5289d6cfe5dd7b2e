// SPDX-License-Identifier: Apache-2.0
#include "model/buckets.hpp"

namespace payoff {

std::vector<std::size_t> fill_buckets(std::span<const Bytes> ready_order, Bytes first_cap,
                                      Bytes cap) {
  std::vector<std::size_t> counts;
  std::size_t open = 0;
  Bytes filled;
  for (const Bytes size : ready_order) {
    ++open;
    filled += size;
    if (filled >= (counts.empty() ? first_cap : cap)) {
      counts.push_back(open);
      open = 0;
      filled = {};
    }
  }
  if (open > 0) {
    counts.push_back(open);
  }
  return counts;
}

}  // namespace payoff
