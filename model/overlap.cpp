// SPDX-License-Identifier: Apache-2.0
#include "model/overlap.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/codec_calls.hpp"
#include "model/interference.hpp"

namespace payoff {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t every_piece = std::numeric_limits<std::size_t>::max();

class Overlap {
 public:
  Overlap(const StepPlan& plan, std::size_t stage)
      : plan_(plan),
        backward_(plan.stages[stage].compute->backward),
        buckets_(plan.buckets(stage)),
        on_side_(plan.placement == Placement::side_stream),
        wait_for_backward_(!plan.overlap || plan.placement == Placement::after_backward),
        slowed_rate_(stream_rates(true, false, plan.reserved_share).compute),
        slowed_time_(1.0 / slowed_rate_),
        calls_(plan),
        codecs_(most_calls(plan, buckets_)),
        flights_(most_calls(plan, buckets_)) {}

  OverlapResult run(std::span<const BackwardOperation> operations) {
    for (const BackwardOperation& operation : operations) {
      wait_until(operation.arrival.si);
      result_.work += operation.work;
      result_.exposed_tp += operation.messages;
      if (!operation.completes_gradients && runs_undisturbed(operation)) {
        continue;
      }
      for (std::size_t piece = operation.first_piece; piece < operation.end_piece; ++piece) {
        run_piece(backward_[piece]);
        if (operation.completes_gradients && next_ready_ <= piece) {
          release(piece);
        }
      }
    }
    release(every_piece);
    on_side_ ? finish_beside() : finish_alone();
    result_.finish = {now_};
    return result_;
  }

 private:
  static std::size_t most_calls(const StepPlan& plan, const std::vector<Bucket>& buckets) {
    std::size_t count = 0;
    for (const Bucket& bucket : buckets) {
      count += plan.kind(bucket).rounds.size() + 1;
    }
    return count;
  }

  void run_piece(const Piece& piece) {
    const double work = piece.work.alone.si;
    const double message = piece.message.alone.si;
    if (on_side_) {
      compute_beside(work);
      pass_beside(message);
    } else {
      if (codec_may_run()) {
        run_codecs();
      }
      compute(work);
      now_ += message;
    }
  }

  // In one go, if no codec call comes in between: beside one message, or none, from start to end.
  bool runs_undisturbed(const BackwardOperation& operation) {
    if (on_side_) {
      return false;
    }
    run_codecs();
    const double rate = now_ < network_free_ ? slowed_time_ : 1.0;
    const double end = now_ + operation.work.si * rate + operation.messages.si;
    if (end > next_arrival_) {
      return false;
    }
    result_.interference.si += operation.work.si * rate - operation.work.si;
    now_ = end;
    return true;
  }

  void wait_until(double arrival) {
    if (on_side_) {
      result_.wait.si += std::max(0.0, arrival - now_);
      pass_beside(arrival - now_);
      return;
    }
    for (run_codecs(); now_ < arrival; run_codecs()) {
      const double until = std::min(arrival, next_arrival_);
      result_.wait.si += until - now_;
      now_ = until;
    }
  }

  // Buckets that are complete after `piece`; what arrived while it ran comes first.
  void release(std::size_t piece) {
    collect();
    for (; next_bucket_ < buckets_.size() && ready_after(next_bucket_) <= piece; ++next_bucket_) {
      push(calls_.first(buckets_[next_bucket_]));
    }
    next_ready_ = next_ready();
  }

  [[nodiscard]] std::size_t ready_after(std::size_t bucket) const {
    return static_cast<std::size_t>(buckets_[bucket].ready_after);
  }

  [[nodiscard]] std::size_t next_ready() const {
    return wait_for_backward_ || next_bucket_ == buckets_.size() ? every_piece
                                                                 : ready_after(next_bucket_);
  }

  [[nodiscard]] bool codec_may_run() const { return !codecs_.empty() || next_arrival_ <= now_; }

  // Calls whose message has arrived by now.
  void collect() {
    while (next_arrival_ <= now_) {
      push(flights_.pop().then);
      next_arrival_ = never;
      if (!flights_.empty()) {
        next_arrival_ = flights_.front().end;
      }
    }
  }

  void push(const CodecCall* call) {
    if (codecs_.empty()) {
      codec_left_ = call->work;
    }
    codecs_.push(call);
  }

  // An encoded round is handed over; after a decoder nothing is left to do.
  void complete(const CodecCall* call) {
    if (!call->decodes) {
      network_free_ = std::max(now_, network_free_) + call->message;
      flights_.push({network_free_, call + 1});
      next_arrival_ = flights_.front().end;
      result_.dp_busy.si += call->message;
    }
  }

  void account(const CodecCall& call, double work) {
    const double copy = call.copy_share * work;
    result_.bucket_copy.si += copy;
    (call.decodes ? result_.decode : result_.encode).si += work - copy;
  }

  // On the compute stream, with messages beside it. Those handed over keep the network busy without
  // a gap until it is free.
  void compute(double work) {
    const double beside = (network_free_ - now_) * slowed_rate_;
    if (beside <= 0.0) {
      now_ += work;
    } else if (work <= beside) {
      const double time = work * slowed_time_;
      result_.interference.si += time - work;
      now_ += time;
    } else {
      result_.interference.si += network_free_ - now_ - beside;
      now_ = network_free_ + (work - beside);
    }
  }

  // All that can run now, between two pieces.
  void run_codecs() {
    for (collect(); !codecs_.empty(); collect()) {
      const CodecCall* call = codecs_.pop();
      compute(call->work);
      account(*call, call->work);
      complete(call);
    }
  }

  void finish_alone() {
    for (run_codecs(); !flights_.empty(); run_codecs()) {
      result_.exposed_dp.si += next_arrival_ - now_;
      now_ = next_arrival_;
    }
  }

  // With codecs on a stream of their own.

  [[nodiscard]] StreamRates rates(bool computes) {
    return stream_rates(computes, !codecs_.empty(),
                        now_ < network_free_ ? plan_.reserved_share : 0.0);
  }

  // To the end of a codec call or of a message, or for `limit`, whichever comes first.
  double step_codecs(double limit, double codec_rate) {
    const double codec = codecs_.empty() ? never : codec_left_ / codec_rate;
    const double message = next_arrival_ - now_;
    const double step = std::min({limit, codec, message});
    now_ = message <= step ? next_arrival_ : now_ + step;
    if (codec <= step) {
      complete(codecs_.pop());
      codec_left_ = codecs_.empty() ? 0.0 : codecs_.front()->work;
    } else {
      codec_left_ -= step * codec_rate;
    }
    collect();
    return step;
  }

  void compute_beside(double work) {
    while (work > 0.0) {
      const StreamRates rate = rates(true);
      const double left = work / rate.compute;
      const double step = step_codecs(left, rate.codec);
      const double done = step < left ? step * rate.compute : work;
      result_.interference.si += step - done;
      work -= done;
    }
  }

  // The compute stream waits, for a message of tensor parallelism or for its input.
  void pass_beside(double time) {
    while (time > 0.0) {
      time -= step_codecs(time, rates(false).codec);
    }
  }

  void finish_beside() {
    while (!codecs_.empty() || !flights_.empty()) {
      if (codecs_.empty()) {
        result_.exposed_dp.si += step_codecs(never, 1.0);
        continue;
      }
      const double rate = rates(false).codec;
      const CodecCall& call = *codecs_.front();
      const double step = step_codecs(never, rate);
      account(call, step * rate);
      result_.interference.si += step - step * rate;
    }
  }

  const StepPlan& plan_;
  const std::vector<Piece>& backward_;
  const std::vector<Bucket>& buckets_;
  bool on_side_;
  bool wait_for_backward_;
  double slowed_rate_;  // of compute beside a message
  double slowed_time_;
  CodecCalls calls_;
  Queue<const CodecCall*> codecs_;
  Queue<Flight> flights_;
  double codec_left_{};  // of the first call in the queue, on the side stream
  double network_free_{};
  double next_arrival_{never};  // of the message in flight
  std::size_t next_bucket_{};
  std::size_t next_ready_{next_ready()};  // piece after which it is complete
  double now_{};
  OverlapResult result_;
};

}  // namespace

OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage,
                                std::span<const BackwardOperation> operations) {
  return Overlap(plan, stage).run(operations);
}

OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage) {
  const StageCompute& compute = *plan.stages[stage].compute;
  BackwardOperation whole = backward_operation(compute, 0, compute.backward.size());
  whole.completes_gradients = true;
  return overlap_gradients(plan, stage, {&whole, 1});
}

BackwardOperation backward_operation(const StageCompute& compute, std::size_t first_piece,
                                     std::size_t end_piece) {
  BackwardOperation operation{.first_piece = first_piece, .end_piece = end_piece};
  for (std::size_t i = first_piece; i < end_piece; ++i) {
    operation.work += compute.backward[i].work.alone;
    operation.messages += compute.backward[i].message.alone;
  }
  return operation;
}

}  // namespace payoff
