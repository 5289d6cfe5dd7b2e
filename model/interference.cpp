// SPDX-License-Identifier: Apache-2.0
#include "model/interference.hpp"

#include <algorithm>

namespace payoff {

std::int64_t waves(std::int64_t blocks, int units) {
  const std::int64_t width = std::max(1, units);
  return (blocks + width - 1) / width;
}

double kernel_rate(std::int64_t blocks, int units, int reserved) {
  const std::int64_t alone = waves(blocks, units);
  return alone == 0
             ? 1.0
             : static_cast<double>(alone) / static_cast<double>(waves(blocks, units - reserved));
}

double reserved_share(int channels, int units) {
  constexpr double most = 0.5;
  return std::min(most, static_cast<double>(channels) / units);
}

}  // namespace payoff
