// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_streams.hpp"

#include <algorithm>

#include "model/interference.hpp"

namespace payoff {

GradientStreams::GradientStreams(const StepPlan& plan, const CodecCalls& calls, std::size_t stage,
                                 std::size_t first_bucket)
    : calls_(&calls),
      backward_(&plan.stages[stage].compute->backward),
      buckets_(&plan.buckets(stage)),
      pairs_(plan.pairs_on(stage)),
      reserved_(plan.reserved_on(stage)),
      on_side_(has_own_stream(plan.placement)),
      wait_for_backward_(!plan.overlap || plan.placement == Placement::after_backward),
      on_host_(calls.use_host()),
      slows_messages_(reserved_ > 0.0 && calls.memory_share() > reserved_),
      least_room_(memory_room(calls.memory_share(), reserved_)),
      nothing_(plan, stage, 0.0),
      message_(plan, stage, reserved_),
      send_(plan, stage, plan.sends_on(stage)),
      both_(plan, stage, held_share(reserved_, plan.sends_on(stage))),
      slowed_codec_(stream_rates(false, true, reserved_, pairs_).codec),
      next_bucket_(first_bucket),
      next_ready_(next_ready()) {}

void GradientStreams::run(const StageOperation& operation, const std::vector<Piece>& pieces) {
  result_.work += operation.work;
  result_.exposed_tp += operation.messages;
  const bool releases = operation.completes_gradients && !wait_for_backward_;
  if (!releases && is_idle() && now_ >= sending_until_) {
    now_ += operation.work.si + operation.messages.si;
    return;
  }
  if (!releases && runs_undisturbed(operation, pieces)) {
    return;
  }
  for (std::size_t piece = operation.first_piece; piece < operation.end_piece; ++piece) {
    run_piece(pieces[piece]);
    if (releases && next_ready_ <= piece) {
      release(piece);
    }
  }
}

void GradientStreams::begin_buckets(std::size_t first) {
  next_bucket_ = first;
  next_ready_ = next_ready();
}

void GradientStreams::wait_for_gathers(std::size_t count) {
  if (!on_side_) {
    run_codecs();
  }
  while (gathered_ < count) {
    if (on_side_) {
      pass_idle();
    } else {
      result_.exposed_dp.si += next_arrival_ - now_;
      now_ = next_arrival_;
      run_codecs();
    }
  }
}

void GradientStreams::finish() { on_side_ ? finish_beside() : finish_alone(); }

void GradientStreams::go_on_from(const GradientStreams& other, double delay) {
  now_ = other.now_ + delay;
  codecs_.take(other.codecs_);
  flights_.take(other.flights_);
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    flights_[i].end += other.late_ + delay;
  }
  hosts_.take(other.hosts_, delay);
  codec_left_ = other.codec_left_;
  sending_until_ = other.sending_until_ + delay;
  network_free_ = other.network_free_ + delay;
  late_ = 0.0;
  set_next_arrival();
}

void GradientStreams::run_piece(const Piece& piece) {
  const double message = piece.message.alone.si;
  if (on_side_) {
    compute_beside(load_of(piece.work));
    pass_beside(message);
  } else {
    if (codec_may_run()) {
      run_codecs();
    }
    compute(load_of(piece.work));
    if (on_host_) {
      pass_beside(message);
    } else {
      now_ += message;
    }
  }
}

// In one go, if no codec call comes in between: beside one message, or none, from start to end.
bool GradientStreams::runs_undisturbed(const StageOperation& operation,
                                       const std::vector<Piece>& pieces) {
  if (on_side_ || on_host_) {
    return false;
  }
  run_codecs();
  if (now_ < sending_until_ || (slows_messages_ && now_ < network_free_)) {
    return false;
  }
  double work = operation.work.si;
  if (now_ < network_free_) {
    work = 0.0;
    for (std::size_t piece = operation.first_piece; piece < operation.end_piece; ++piece) {
      const Load load = load_of(pieces[piece].work);
      const Pace& slowed = message_.compute[load.mix];
      if (exceeds(load.memory_share * slowed.rate, least_room_)) {
        return false;
      }
      work += load.work * slowed.time;
    }
  }
  const double end = now_ + work + operation.messages.si;
  if (end > next_arrival_) {
    return false;
  }
  result_.interference.si += work - operation.work.si;
  now_ = end;
  return true;
}

void GradientStreams::wait_until(double arrival) {
  if (is_idle()) {
    if (arrival > now_) {
      result_.wait.si += arrival - now_;
      now_ = arrival;
    }
    return;
  }
  if (on_side_) {
    result_.wait.si += std::max(0.0, arrival - now_);
    pass_beside(arrival - now_);
    return;
  }
  for (run_codecs(); on_host_ && now_ < arrival; run_codecs()) {
    result_.wait.si += step_codecs(arrival - now_, rates(nullptr));
  }
  for (run_codecs(); now_ < arrival; run_codecs()) {
    const double until = std::min(arrival, next_arrival_);
    result_.wait.si += until - now_;
    now_ = until;
  }
}

// Buckets that are complete after `piece`; what arrived while it ran comes first.
void GradientStreams::release(std::size_t piece) {
  collect();
  while (next_bucket_ < buckets_->size() && ready_after(next_bucket_) <= piece) {
    arrive(calls_->first((*buckets_)[next_bucket_++]));
  }
  next_ready_ = next_ready();
}

// All that can run now, between two pieces.
void GradientStreams::run_codecs() {
  for (collect(); !codecs_.empty(); collect()) {
    const CodecCall* call = codecs_.pop();
    compute({call->work, call->memory_share, 0, true});
    account(*call, call->work);
    complete(call);
  }
}

// Each message in turn, it and this work as fast as the memory lets both.
void GradientStreams::compute_beside_slowed(double work, double memory_share, const Pace& units) {
  for (std::size_t i = 0; i < flights_.size() && work > 0.0; ++i) {
    const double left = flights_[i].end + late_ - now_;
    if (left <= 0.0) {
      continue;
    }
    const double room = room_beside(flights_[i]);
    const Pace slowed =
        exceeds(memory_share * units.rate, room) ? Pace(room / memory_share) : units;
    const double message = message_rate(memory_share * slowed.rate,
                                        flights_[i].sent()->message_memory_share, reserved_);
    const bool ends_first = left / message < work * slowed.time;
    const double step = ends_first ? left / message : work * slowed.time;
    const double done = ends_first ? step * slowed.rate : work;
    delay_messages(step * (1.0 - message));
    now_ = ends_first ? flights_[i].end + late_ : now_ + step;
    result_.interference.si += step - done;
    work -= done;
  }
  now_ += work;
}

// As long as a send is in flight, from one change to the next: work on the compute stream beside it
// and beside the messages that are. Leaves the work that is left then.
void GradientStreams::compute_beside_send(Load& load) {
  double& work = load.work;
  std::size_t flight = 0;
  while (work > 0.0 && now_ < sending_until_) {
    while (flight < flights_.size() && flights_[flight].end + late_ <= now_) {
      ++flight;
    }
    const bool beside_message = now_ < network_free_ && flight < flights_.size();
    double rate = (beside_message ? both_ : send_).rate(load, pairs_);
    double message = 1.0;
    double until = sending_until_;
    bool ends_first = false;
    if (beside_message) {
      rate = within_memory({rate, 0.0}, load.memory_share, 0.0, room_beside(flights_[flight]), 0.0)
                 .compute;
      message = message_rate(load.memory_share * rate,
                             flights_[flight].sent()->message_memory_share, reserved_);
      const double end = now_ + (flights_[flight].end + late_ - now_) / message;
      ends_first = end <= until;
      until = std::min(until, end);
    }
    const bool over = (until - now_) * rate >= work;
    const double step = over ? work / rate : until - now_;
    const double done = over ? work : step * rate;
    if (message < 1.0) {
      delay_messages(step * (1.0 - message));
    }
    now_ = over ? now_ + step : ends_first ? flights_[flight].end + late_ : until;
    result_.interference.si += step - done;
    work -= done;
  }
}

void GradientStreams::finish_alone() {
  for (run_codecs(); on_host_ && !is_idle(); run_codecs()) {
    pass_without_codec();
  }
  for (run_codecs(); !flights_.empty(); run_codecs()) {
    result_.exposed_dp.si += next_arrival_ - now_;
    now_ = next_arrival_;
  }
}

}  // namespace payoff
