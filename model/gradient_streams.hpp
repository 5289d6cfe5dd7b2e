// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "model/codec_calls.hpp"
#include "model/host_chains.hpp"
#include "model/interference.hpp"
#include "model/overlap.hpp"
#include "model/step_plan.hpp"

// One GPU in its last backward operations, from one operation to the next: compute, codec and
// gradient messages by the rules of model/overlap.hpp. What an operation leaves queued and in
// flight stays for the next one. Times are seconds from any origin; a copy may go on at another
// date.

namespace payoff {

class GradientStreams {
 public:
  // Idle at date zero, buckets before `first_bucket` long gone.
  GradientStreams(const StepPlan& plan, const CodecCalls& calls, std::size_t stage,
                  std::size_t first_bucket);

  // Goes on with what another GPU has queued and in flight, `delay` later.
  void go_on_from(const GradientStreams& other, double delay);

  // What can happen before the input of the next operation has come.
  void wait_until(double arrival);
  // A send of the stage is in flight until then: it holds compute units.
  void send_until(double date) { sending_until_ = std::max(sending_until_, date); }
  // Runs an operation whose input is there; of the stage's backward, or of other pieces.
  void run(const StageOperation& operation) { run(operation, *backward_); }
  void run(const StageOperation& operation, const std::vector<Piece>& pieces);
  // Sharded weights: hands over a gather of a kind; waits until so many have come in all. The
  // buckets of another micro-batch begin, with the first one of an operation.
  void gather(std::size_t kind) { arrive(calls_->first(kind)); }
  void wait_for_gathers(std::size_t count);
  void begin_buckets(std::size_t first = 0);
  // Buckets that no operation has completed; those of pieces before the end of one.
  void release_all() { release(every_piece); }
  void release_until(std::size_t end_piece) { release(end_piece - 1); }
  // To the last decoder.
  void finish();

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] bool is_idle() const {
    return codecs_.empty() && flights_.empty() && hosts_.is_idle();
  }
  // At least: when what was handed over has been sent.
  [[nodiscard]] double busy_until() const { return network_free_; }
  // Since it was taken before.
  [[nodiscard]] OverlapResult take_result() { return std::exchange(result_, {}); }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  static constexpr std::size_t every_piece = std::numeric_limits<std::size_t>::max();

  void run_piece(const Piece& piece);
  [[nodiscard]] bool runs_undisturbed(const StageOperation& operation,
                                      const std::vector<Piece>& pieces);
  void release(std::size_t piece);
  [[nodiscard]] std::size_t ready_after(std::size_t bucket) const {
    return static_cast<std::size_t>((*buckets_)[bucket].ready_after);
  }
  [[nodiscard]] std::size_t next_ready() const {
    return wait_for_backward_ || next_bucket_ == buckets_->size() ? every_piece
                                                                  : ready_after(next_bucket_);
  }
  [[nodiscard]] bool codec_may_run() const { return !codecs_.empty() || next_arrival_ <= now_; }
  void run_codecs();
  void finish_alone();

  // What runs on the compute stream.
  struct Load {
    double work{};
    double memory_share{};
    std::size_t mix{};  // of its kernels
    bool is_codec{};
  };
  [[nodiscard]] static Load load_of(const Work& work) {
    return {work.alone.si, work.memory_share, work.mix, false};
  }

  struct Rates {
    StreamRates streams;
    double message{};
  };
  // Null: nothing computes.
  [[nodiscard]] Rates rates(const Load* computes) const;
  // In the memory, for work beside this message.
  [[nodiscard]] double room_beside(const Flight& flight) const {
    return memory_room(flight.sent()->message_memory_share, reserved_);
  }
  double step_codecs(double limit, const Rates& rates);
  void compute_beside(Load load);
  void compute_beside_send(Load& load);
  void pass_beside(double time);
  void pass_idle();
  void pass_without_codec();
  void finish_beside();

  // Calls whose message has arrived by now.
  void collect() {
    while (next_arrival_ <= now_) {
      const CodecCall* call = flights_.pop().then;
      set_next_arrival();
      arrive(call);
    }
    if (on_host_) {
      collect_from_host();
    }
  }
  void collect_from_host();

  void set_next_arrival() {
    next_arrival_ = never;
    if (!flights_.empty()) {
      next_arrival_ = flights_.front().end + late_;
    }
  }

  // The message in flight, and all that wait for it, end later.
  void delay_messages(double time) {
    late_ += time;
    network_free_ += time;
    result_.dp_busy.si += on_host_ ? 0.0 : time;
    set_next_arrival();
  }

  // What a call is to do is there. The host does not wait for the GPU's streams.
  void arrive(const CodecCall* call) { call->is_of_host() ? complete(call) : push(call); }

  void push(const CodecCall* call) {
    if (codecs_.empty()) {
      codec_left_ = call->work;
    }
    codecs_.push(call);
  }

  // The GPU's part of it is done.
  void complete(const CodecCall* call) {
    if (call->legs.empty()) {
      hand_over(call);
    } else {
      hosts_.begin(call, now_);
    }
  }

  // An encoded round is handed over; after a decoder nothing is left to do.
  void hand_over(const CodecCall* call) {
    if (!call->decodes && call->sends) {
      network_free_ = std::max(now_, network_free_) + call->message;
      flights_.push({network_free_ - late_, call + 1});
      next_arrival_ = flights_.front().end + late_;
      result_.dp_busy.si += on_host_ ? 0.0 : call->message;
    } else if (!call->decodes) {
      arrive(call + 1);
    } else if (call->of_weights) {
      ++gathered_;
    }
  }

  void account(const CodecCall& call, double work) {
    const double copy = call.copy_share * work;
    const double update = call.update_share * work;
    result_.bucket_copy.si += copy;
    result_.optimizer.si += update;
    // Both shares are rounded: where they are all of it nothing is left, not less.
    (call.decodes ? result_.decode : result_.encode).si += std::max(work - copy - update, 0.0);
  }

  // On the compute stream, with messages beside it. Those handed over keep the network busy without
  // a gap until it is free.
  void compute(Load load) {
    if (on_host_) {
      compute_beside(load);
      return;
    }
    if (now_ < sending_until_) {
      compute_beside_send(load);
    }
    const double work = load.work;
    const Pace& slowed = load.is_codec ? slowed_codec_ : message_.compute[load.mix];
    if (now_ >= network_free_) {
      now_ += work;
      return;
    }
    if (slows_messages_ || exceeds(load.memory_share * slowed.rate, least_room_)) {
      compute_beside_slowed(work, load.memory_share, slowed);
      return;
    }
    const double beside = (network_free_ - now_) * slowed.rate;
    if (work <= beside) {
      const double time = work * slowed.time;
      result_.interference.si += time - work;
      now_ += time;
    } else {
      result_.interference.si += network_free_ - now_ - beside;
      now_ = network_free_ + (work - beside);
    }
  }
  void compute_beside_slowed(double work, double memory_share, const Pace& units);

  const CodecCalls* calls_;
  const std::vector<Piece>* backward_;
  const std::vector<Bucket>* buckets_;
  PairPrior pairs_;
  double reserved_;  // of the units, by a gradient message
  bool on_side_;
  bool wait_for_backward_;
  bool on_host_;         // codecs run there: everything goes from one change to the next
  bool slows_messages_;  // messages that ask for more of the memory than their units weigh
  double least_room_;    // in the memory, beside any message
  // What is held while these are in flight, and what that does to compute.
  struct Beside {
    Beside(const StepPlan& plan, std::size_t stage, double share)
        : held(share), turns(turns_of(plan.placement)), compute(plan.paces(stage, share)) {}
    double held;
    StreamTurns turns;
    Paces compute;

    [[nodiscard]] Pace pace(const Load* computes) const {
      return computes != nullptr ? compute[computes->mix] : Pace();
    }
    [[nodiscard]] StreamRates streams(const Load* computes, bool codec,
                                      const PairPrior& pairs) const {
      const Pace alone = pace(computes);
      return stream_rates(computes != nullptr, codec, held, pairs, alone.rate, alone.idle_share,
                          turns);
    }
    // Of what has the units that are left to itself.
    [[nodiscard]] double rate(const Load& load, const PairPrior& pairs) const {
      return load.is_codec ? streams(nullptr, true, pairs).codec : compute[load.mix].rate;
    }
  };
  Beside nothing_;
  Beside message_;
  Beside send_;
  Beside both_;
  Pace slowed_codec_;  // on the compute stream, beside a message
  Queue<const CodecCall*> codecs_;
  Queue<Flight> flights_;
  HostChains hosts_;
  double codec_left_{};  // of the first call in the queue, on the side stream
  double network_free_{-never};
  double sending_until_{-never};
  double next_arrival_{never};  // of the message in flight
  double late_{};               // all messages, because of the memory
  std::size_t gathered_{};      // weights that have come
  std::size_t next_bucket_;
  std::size_t next_ready_;  // piece after which it is complete
  double now_{};
  OverlapResult result_;
};

}  // namespace payoff
