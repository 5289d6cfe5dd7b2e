// SPDX-License-Identifier: Apache-2.0
#include "sim/step_sends.hpp"

#include <string>

namespace payoff::sim {

TraceSpan span_of(const StageSend& send, Direction toward, const Places& places, std::size_t stages,
                  SimTime now) {
  const bool forward = toward == Direction::forward;
  TraceSpan span;
  span.place = send.from;
  span.stage = places.places[send.from].stage;
  span.one_of_several = places.several_a_stage(stages);
  span.track = first_send_track + (forward ? 0U : 1U);
  span.track_name = forward ? "sends to the next stage" : "sends to the previous stage";
  span.name = name(Cause::pp_message);
  span.begin = send.since;
  span.end = now;
  span.alone = send.message->alone;
  span.collective = payoff::name(send.message->message->collective);
  span.bytes = send.message->message->size;
  span.item = "micro_batch " + std::to_string(send.operation.micro_batch) + " to stage " +
              std::to_string(places.places[send.to].stage);
  return span;
}

}  // namespace payoff::sim
