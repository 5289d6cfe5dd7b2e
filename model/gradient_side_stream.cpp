// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/gradient_streams.hpp"
#include "model/interference.hpp"

// Gradients whose codec has a stream of its own: from one change of what runs to the next.

namespace payoff {

GradientStreams::Rates GradientStreams::rates(const Load* computes) const {
  const bool sends = now_ < sending_until_;
  const Beside& beside = flights_.empty() ? (sends ? send_ : nothing_) : (sends ? both_ : message_);
  // On the compute stream a codec's work is all that computes.
  const bool is_codec = computes != nullptr && computes->is_codec;
  const Load* kernels = is_codec ? nullptr : computes;
  const bool beside_codec = on_side_ && !codecs_.empty();
  const double codec_share =
      is_codec ? computes->memory_share : (beside_codec ? codecs_.front()->memory_share : 0.0);
  const double copies = on_host_ ? hosts_.copy_memory_share() : 0.0;
  const double room = (flights_.empty() ? 1.0 : room_beside(flights_.front())) - copies;
  const StreamRates streams =
      within_memory(beside.streams(kernels, is_codec || beside_codec, pairs_),
                    kernels != nullptr ? kernels->memory_share : 0.0, codec_share, room,
                    beside.pace(kernels).idle_share);
  if (!slows_messages_ || flights_.empty()) {
    return {streams, 1.0};
  }
  double demand = copies + (kernels != nullptr ? streams.compute * kernels->memory_share : 0.0);
  if (is_codec || beside_codec) {
    demand += streams.codec * codec_share;
  }
  return {streams, message_rate(demand, flights_.front().sent()->message_memory_share, reserved_)};
}

// To the end of a codec call, of a message or of what the host does, or for `limit`, whichever
// comes first.
double GradientStreams::step_codecs(double limit, const Rates& rates) {
  if (now_ < sending_until_) {
    limit = std::min(limit, sending_until_ - now_);
  }
  const bool beside = on_side_ && !codecs_.empty();
  const double codec = beside ? codec_left_ / rates.streams.codec : never;
  const double message = (next_arrival_ - now_) / rates.message;
  const double host = hosts_.next() - now_;
  const double step = std::min({limit, codec, message, host});
  if (rates.message < 1.0) {
    delay_messages(step * (1.0 - rates.message));
  }
  if (on_host_ && (!flights_.empty() || hosts_.is_sending())) {
    result_.dp_busy.si += step;
  }
  now_ = message <= step ? next_arrival_ : host <= step ? hosts_.next() : now_ + step;
  if (codec <= step) {
    complete(codecs_.pop());
    codec_left_ = codecs_.empty() ? 0.0 : codecs_.front()->work;
  } else if (beside) {
    codec_left_ -= step * rates.streams.codec;
  }
  collect();
  return step;
}

void GradientStreams::compute_beside(Load load) {
  double& work = load.work;
  while (work > 0.0) {
    const Rates now = rates(&load);
    const double rate = load.is_codec ? now.streams.codec : now.streams.compute;
    const double left = work / rate;
    const double step = step_codecs(left, now);
    const double done = step < left ? step * rate : work;
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
    pass_without_codec();
    return;
  }
  const Rates now = rates(nullptr);
  const double rate = now.streams.codec;
  const CodecCall& call = *codecs_.front();
  const double step = step_codecs(never, now);
  account(call, step * rate);
  result_.interference.si += step - step * rate;
}

// The GPU waits for messages, or for its host: for its cores where they work, else for messages,
// else for copies, which are the codec's.
void GradientStreams::pass_without_codec() {
  const HostLeg* leg = hosts_.working();
  if (leg == nullptr && flights_.empty() && !hosts_.is_sending()) {
    leg = hosts_.copying();
  }
  const bool decodes = leg != nullptr && leg->decodes;
  const double step = step_codecs(never, rates(nullptr));
  if (leg == nullptr) {
    result_.exposed_dp.si += step;
    return;
  }
  (decodes ? result_.decode : result_.encode).si += step;
  (decodes ? result_.decode_on_host : result_.encode_on_host).si += step;
}

void GradientStreams::collect_from_host() {
  hosts_.advance(now_);
  while (hosts_.has_done() || next_arrival_ <= now_) {
    if (hosts_.has_done()) {
      hand_over(hosts_.take_done());
    } else {
      const CodecCall* call = flights_.pop().then;
      set_next_arrival();
      arrive(call);
    }
  }
}

void GradientStreams::finish_beside() {
  while (!is_idle()) {
    pass_idle();
  }
}

}  // namespace payoff
