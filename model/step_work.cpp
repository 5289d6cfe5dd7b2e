// SPDX-License-Identifier: Apache-2.0
#include "model/step_work.hpp"

#include "model/compute.hpp"

namespace payoff {

void extend(Work& work, Seconds time, double memory_share) {
  const Seconds streaming = work.memory_share * work.alone + memory_share * time;
  work.alone += time;
  work.memory_share = work.alone > 0_s ? streaming / work.alone : 0.0;
}

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

Message priced_message(MessageKind kind, const CollectiveModel& network, Collective collective,
                       Bytes size, const Gpu& gpu) {
  Message message = priced_message(kind, network, collective, size);
  message.memory_share = memory_share(message, network.group().ranks, gpu);
  return message;
}

double memory_share(const Message& message, int ranks, const Gpu& gpu) {
  return memory_share(message_memory_traffic(message.collective, message.size, ranks),
                      message.alone, gpu);
}

}  // namespace payoff
