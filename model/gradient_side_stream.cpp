// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/gradient_streams.hpp"
#include "model/interference.hpp"

// Gradients whose codec has a stream of its own: from one change of what runs to the next.

namespace payoff {

GradientStreams::Rates GradientStreams::rates(const Load* computes) const {
  const bool sends = now_ < sending_until_;
  const Beside& beside = flights_.empty() ? (sends ? send_ : nothing_) : (sends ? both_ : message_);
  const StreamRates streams = within_memory(
      beside.streams(computes, !codecs_.empty(), plan_->pair_quantile),
      computes != nullptr ? computes->memory_share : 0.0,
      codecs_.empty() ? 0.0 : codecs_.front()->memory_share,
      flights_.empty() ? 1.0 : room_beside(flights_.front()), beside.pace(computes).idle_share);
  if (!slows_messages_ || flights_.empty()) {
    return {streams, 1.0};
  }
  double demand = computes != nullptr ? streams.compute * computes->memory_share : 0.0;
  if (!codecs_.empty()) {
    demand += streams.codec * codecs_.front()->memory_share;
  }
  return {streams, message_rate(demand, flights_.front().sent()->message_memory_share,
                                plan_->reserved_share)};
}

// To the end of a codec call or of a message, or for `limit`, whichever comes first.
double GradientStreams::step_codecs(double limit, const Rates& rates) {
  if (now_ < sending_until_) {
    limit = std::min(limit, sending_until_ - now_);
  }
  const double codec = codecs_.empty() ? never : codec_left_ / rates.streams.codec;
  const double message = (next_arrival_ - now_) / rates.message;
  const double step = std::min({limit, codec, message});
  if (rates.message < 1.0) {
    delay_messages(step * (1.0 - rates.message));
  }
  now_ = message <= step ? next_arrival_ : now_ + step;
  if (codec <= step) {
    complete(codecs_.pop());
    codec_left_ = codecs_.empty() ? 0.0 : codecs_.front()->work;
  } else {
    codec_left_ -= step * rates.streams.codec;
  }
  collect();
  return step;
}

void GradientStreams::compute_beside(Load load) {
  double& work = load.work;
  while (work > 0.0) {
    const Rates now = rates(&load);
    const double left = work / now.streams.compute;
    const double step = step_codecs(left, now);
    const double done = step < left ? step * now.streams.compute : work;
    result_.interference.si += step - done;
    work -= done;
  }
}

// The compute stream waits, for a message of tensor parallelism or for its input.
void GradientStreams::pass_beside(double time) {
  while (time > 0.0) {
    time -= step_codecs(time, rates(nullptr));
  }
}

// Nothing computes: codecs and messages are all there is.
void GradientStreams::pass_idle() {
  if (codecs_.empty()) {
    result_.exposed_dp.si += step_codecs(never, rates(nullptr));
    return;
  }
  const Rates now = rates(nullptr);
  const double rate = now.streams.codec;
  const CodecCall& call = *codecs_.front();
  const double step = step_codecs(never, now);
  account(call, step * rate);
  result_.interference.si += step - step * rate;
}

void GradientStreams::finish_beside() {
  while (!codecs_.empty() || !flights_.empty()) {
    pass_idle();
  }
}

}  // namespace payoff
