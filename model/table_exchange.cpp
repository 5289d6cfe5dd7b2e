// SPDX-License-Identifier: Apache-2.0
#include "model/table_exchange.hpp"

#include <algorithm>

#include "model/interference.hpp"

namespace payoff {

Seconds time_beside_tables(const Layer& layer, bool forward, int micro_batch,
                           const ComputeContext& compute) {
  if (layer.measured) {
    return forward ? layer.measured->forward : layer.measured->backward;
  }
  return forward ? forward_time(layer.forward, micro_batch, compute)
                 : backward_time(layer.forward, micro_batch, compute);
}

Message exposed_beside(const Message& whole, Seconds work, const Gpu& gpu) {
  if (whole.alone <= 0_s || work <= 0_s) {
    return whole;
  }
  const double held = reserved_share(whole.channels, gpu.compute_units);
  Message exposed = whole;
  exposed.alone = std::max(whole.alone - work, held * whole.alone);
  exposed.size = whole.size * (exposed.alone / whole.alone);
  exposed.least_share = 0;  // what is hidden grows as the message gets faster
  return exposed;
}

}  // namespace payoff
