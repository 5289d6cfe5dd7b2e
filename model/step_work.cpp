// SPDX-License-Identifier: Apache-2.0
#include "model/step_work.hpp"

namespace payoff {

double least_share(const CollectivePrice& price) {
  return price.time > 0_s ? price.least / price.time : 0.0;
}

Message priced_message(MessageKind kind, const CollectiveModel& network, Collective collective,
                       Bytes size) {
  const CollectivePrice price = network.price(collective, size);
  return {kind,
          collective,
          size,
          price.time,
          price.channels,
          price.relative_sd,
          0,
          least_share(price),
          false,
          network.paths().domains == 1};
}

}  // namespace payoff
